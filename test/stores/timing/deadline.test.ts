import { once } from 'node:events'
import { afterEach, expect, it, vi } from 'vitest'
import { withReadDeadline } from '../../../src/api/listResponse.ts'
import { withDeadline } from '../../../src/stores/timing/deadline.ts'

afterEach(() => vi.useRealTimers())

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
  vi.useFakeTimers()
  expect(await withDeadline(60_000, late, () => Promise.resolve(1))).toBe(1)
  await expect(withDeadline(60_000, late, () => Promise.reject(new Error('own')))).rejects.toThrow('own')
  const failAtOnce = () => {
    throw new Error('at once')
  }
  await expect(withDeadline(60_000, late, failAtOnce)).rejects.toThrow('at once')
  expect(vi.getTimerCount()).toBe(0)
})

it('a result that arrived while the process was suspended is not late', async () => {
  const { port1, port2 } = new MessageChannel()
  const work = withDeadline(1, late, () => once(port2, 'message'))
  port1.postMessage('in time')
  // Nothing is read and no timer fires until the deadline has passed.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
  expect(await work).toEqual(['in time'])
  port1.close()
})

it('a read of the API ends with query_timeout, and its queries are aborted, as by a disconnect', async () => {
  let given: AbortSignal | undefined
  const read = (signal: AbortSignal) => {
    given = signal
    return new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  }
  await expect(withReadDeadline(new AbortController().signal, 'wait', read, 1)).rejects.toMatchObject({
    code: 'query_timeout',
    details: { retryAfterS: 5 },
  })
  expect(given?.aborted).toBe(true)
  const client = new AbortController()
  const running = withReadDeadline(client.signal, 'wait', read)
  client.abort(new Error('gone'))
  await expect(running).rejects.toThrow('gone')
})
