// @module-tag all
// @module-tag node

import { writeFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { EngineProcess } from '../../../src/stores/embedded/engineProcess.ts'
import { useFolder } from '../../kit/fixtures.ts'
import { until } from '../../kit/until.ts'

const folder = useFolder()
let kept: EngineProcess
afterEach(() => kept.end())

function keep(program: string) {
  const output = { ready: 0, failed: [] as string[], log: [] as string[] }
  const entry = folder('engine.mjs')
  writeFileSync(entry, program)
  kept = new EngineProcess({
    title: 'Engine',
    entry,
    args: [],
    ready: () => {
      output.ready += 1
    },
    failed: (message) => output.failed.push(message),
    log: ({ message }) => output.log.push(message),
    print: () => {},
  })
  kept.start()
  return output
}

const ready = `process.send({ kind: 'ready', address: { path: '/' } })`

describe('an engine process', () => {
  it('that dies repeatedly is restarted at once at first, then after growing pauses', async () => {
    const output = keep(`${ready}; process.exitCode = 3; process.disconnect()`)
    await until(() => output.log.some((line) => line.endsWith('in 2 s.')))
    expect(output.log.filter((line) => line.includes('ended unexpectedly'))).toEqual([
      ...Array(4).fill('Engine ended unexpectedly (exit code 3); restarting at once.'),
      'Engine ended unexpectedly (exit code 3); restarting in 1 s.',
      'Engine ended unexpectedly (exit code 3); restarting in 2 s.',
    ])
  })

  it('that does not start reports the reason that it printed', async () => {
    const output = keep(`console.error('starting'); console.error('Error 5: no room.'); process.exit(1)`)
    await until(() => output.failed.length > 0)
    expect(output.failed).toEqual(['Engine did not start: Error 5: no room.'])
  })

  it('that reports why it cannot start is not retried until it is requested again', async () => {
    const refuse = `process.send({ kind: 'failed', message: 'no' }, () => process.exit(1))`
    const output = keep(refuse)
    await until(() => output.failed.length === 1)
    kept.start()
    await until(() => output.failed.length === 2)
    expect(output.failed).toEqual(['Engine did not start: no.', 'Engine did not start: no.'])
  })

  it('that ends in order has no address meanwhile', async () => {
    const output = keep(
      `setInterval(() => {}, 1000); process.on('SIGTERM', () => setTimeout(process.exit, 200, 0)); ${ready}`,
    )
    await until(() => output.ready === 1)
    expect(kept.address).toEqual({ path: '/' })
    const ended = kept.end()
    expect(kept.address).toBeUndefined()
    await ended
    expect(output.log).toEqual([])
  })
})
