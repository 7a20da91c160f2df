import { describe, expect, it } from 'vitest'
import { withReadDeadline } from '../../src/api/listResponse.ts'

describe('the deadline of a read', () => {
  const connected = new AbortController().signal

  it('aborts the queries of a read, as a disconnect does', async () => {
    let given: AbortSignal | undefined
    const read = (signal: AbortSignal) => {
      given = signal
      return new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    }
    await expect(withReadDeadline(connected, 'wait', read, 1)).rejects.toMatchObject({
      code: 'query_timeout',
      details: { retryAfterS: 5 },
    })
    expect(given?.aborted).toBe(true)
    const client = new AbortController()
    const running = withReadDeadline(client.signal, 'wait', read)
    client.abort(new Error('gone'))
    await expect(running).rejects.toThrow('gone')
  })
})
