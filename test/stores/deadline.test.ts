import { stat } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { withDeadline } from '../../src/stores/deadline.ts'

const late = () => new Error('late')
const never = new Promise<never>(() => {})

it('work that takes longer fails with the error, whatever it waits for, and its signal aborts', async () => {
  let given: AbortSignal | undefined
  const work = withDeadline(1, late, (signal) => {
    given = signal
    return never
  })
  await expect(work).rejects.toThrow('late')
  expect(given?.reason).toMatchObject({ message: 'late' })
})

it('work that ends in time keeps its result, its error and no timer', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  expect(await withDeadline(60_000, late, () => Promise.resolve(1))).toBe(1)
  await expect(withDeadline(60_000, late, () => Promise.reject(new Error('own')))).rejects.toThrow('own')
  const failAtOnce = () => {
    throw new Error('at once')
  }
  await expect(withDeadline(60_000, late, failAtOnce)).rejects.toThrow('at once')
  expect(timers()).toBe(before)
})

it('a result that arrived while the process was suspended is not late', async () => {
  const work = withDeadline(1, late, () => stat('.'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
  expect((await work).isDirectory()).toBe(true)
})
