import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { EngineProcess } from '../../../src/stores/embedded/engineProcess.ts'
import { until } from './folder.ts'

let folder: string
let kept: EngineProcess
afterEach(async () => {
  await kept.end()
  rmSync(folder, { recursive: true, force: true })
})

/** Keeps a process that runs this program. */
function keep(program: string) {
  const heard = { ready: 0, failed: [] as string[], log: [] as string[] }
  folder = mkdtempSync(join(tmpdir(), 'tributary-kept-'))
  const entry = join(folder, 'engine.mjs')
  writeFileSync(entry, program)
  kept = new EngineProcess({
    title: 'Engine',
    entry,
    args: [],
    ready: () => {
      heard.ready += 1
    },
    failed: (message) => heard.failed.push(message),
    log: ({ message }) => heard.log.push(message),
    print: () => {},
  })
  kept.start()
  return heard
}

const ready = `process.send({ kind: 'ready', address: { path: '/' } })`

describe('an engine process', () => {
  it('that dies repeatedly is restarted at once at first, then after growing pauses', async () => {
    const heard = keep(`${ready}; process.exitCode = 3; process.disconnect()`)
    await until(() => heard.log.some((line) => line.endsWith('in 2 s.')))
    expect(heard.log.filter((line) => line.includes('ended unexpectedly'))).toEqual([
      ...Array(4).fill('Engine ended unexpectedly (exit code 3); restarting at once.'),
      'Engine ended unexpectedly (exit code 3); restarting in 1 s.',
      'Engine ended unexpectedly (exit code 3); restarting in 2 s.',
    ])
  })

  it('that does not start is tried twice, and the reason that it printed is reported', async () => {
    const heard = keep(`console.error('starting'); console.error('Error 5: no room.'); process.exit(1)`)
    await until(() => heard.failed.length > 0)
    expect(heard.failed).toEqual(['Engine did not start: Error 5: no room.'])
  })

  it('that reports why it cannot start is not retried until it is requested again', async () => {
    const refuse = `process.send({ kind: 'failed', message: 'no' }, () => process.exit(1))`
    const heard = keep(refuse)
    await until(() => heard.failed.length === 1)
    await kept.end()
    kept.start()
    await until(() => heard.failed.length === 2)
    expect(heard.failed).toEqual(['Engine did not start: no.', 'Engine did not start: no.'])
  })

  it('that is requested while it ends runs again, and has no address in between', async () => {
    const heard = keep(`${ready}; process.on('message', () => setTimeout(() => process.exit(0), 200))`)
    await until(() => heard.ready === 1)
    expect(kept.address).toEqual({ path: '/' })
    const ended = kept.end()
    kept.start()
    expect(kept.address).toBeUndefined()
    await ended
    await until(() => heard.ready === 2)
    expect(kept.address).toEqual({ path: '/' })
    expect(heard.log).toEqual([])
  })
})
