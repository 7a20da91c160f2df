import { expect } from 'vitest'
import { fromSums } from '../properties/lives.ts'

/** Requests of a client that repeats a 503 as it is told to, and accepts no other failure. */
export async function request(url: string, key: string, event?: object): Promise<unknown> {
  for (;;) {
    const response = await fetch(url, {
      headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
      ...(event && { method: 'POST', body: JSON.stringify(event) }),
    })
    const body = await response.text()
    if (response.status === 503) expect(response.headers.get('retry-after')).toMatch(/^\d+$/)
    else {
      expect([url, response.status, response.ok || body]).toEqual([url, 200, true])
      return JSON.parse(body, (name, value) => (name === 'storedAt' || name === 'asOf' ? undefined : value))
    }
  }
}

export function openLoad(urlOf: () => string, keys: { lived: string; writing: string }) {
  let isEnded = false
  const acknowledged: string[] = []
  const running = (async () => {
    while (!isEnded) {
      const id = `load-${acknowledged.length}`
      // Events of one visitor, or of one click, are limited.
      const event = { event_name: 'visit', visitor_id: id, campaign_id: 'k1', event_id: id }
      await request(`${urlOf()}/events`, keys.writing, event)
      acknowledged.push(id)
      await request(`${urlOf()}${fromSums[acknowledged.length % fromSums.length]}`, keys.lived)
    }
  })()
  let failure: unknown
  running.catch((error) => {
    failure = error
  })
  return {
    assertRunning(): void {
      if (failure) throw failure
    },
    async end(): Promise<string[]> {
      isEnded = true
      await running
      return acknowledged
    },
  }
}
