import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'

const script = `
import { CleanUp } from '${join(packageRoot, 'test/kit/cleanUp.ts')}'
const cleanUp = new CleanUp()
for (const name of ['first', 'second', 'third']) {
  cleanUp.add(async () => {
    await null
    console.log(name)
    if (name === 'second') throw new Error('refused')
  })
}
setInterval(() => {}, 1_000)
console.log('started')`

it.each(['SIGINT', 'SIGTERM'] as const)(
  'a script that receives %s ends what it started, the last one first',
  async (signal) => {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script], {
      cwd: packageRoot,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const exited = once(child, 'exit')
    const [started] = await once(child.stdout, 'data')
    child.kill(signal)
    expect(`${started}${await text(child.stdout)}`).toBe('started\nthird\nsecond\nfirst\n')
    expect((await exited)[0]).toBe(1)
  },
)
