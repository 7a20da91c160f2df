import { describe, expect, it } from 'vitest'
import { hashOfKey, makeKeyText } from '../../src/accounts/keyFormat.ts'
import { openKeyLookUps, tooLate } from '../../src/accounts/lookUpKeys.ts'
import { revokeKey } from '../../src/accounts/manageKeys.ts'
import { makeKey } from '../kit/accounts.ts'
import { testNowMs, useTestApp } from '../kit/app.ts'
import { interceptPostgres } from '../kit/interceptedPostgres.ts'
import { sendRaw } from '../kit/rawConnection.ts'
import { probeRoutes } from './probe.ts'

const api = useTestApp()

const url = '/api/v1/probe?group_by=day'

/** Opens a server without cached keys, and functions that send keys to it. */
async function openFresh() {
  const app = await api.open({ routes: [probeRoutes] })
  const send = (key: string, remoteAddress = '203.0.113.7') =>
    app.inject({ url, headers: { authorization: `ApiKey ${key}` }, remoteAddress })
  const sendMany = async (count: number, makeText: () => string) => {
    const responses = []
    for (let sent = 0; sent < count; sent++) responses.push(await send(makeText()))
    return responses
  }
  return { app, send, sendMany }
}

const statusesOf = (responses: readonly { statusCode: number }[]) => {
  const counts: Record<number, number> = {}
  for (const { statusCode } of responses) counts[statusCode] = (counts[statusCode] ?? 0) + 1
  return counts
}

it.each([
  ['malformed', () => `${makeKeyText()}x`],
  ['unknown', makeKeyText],
])(
  'a server accepts a valid key that is not cached after any number of %s keys from its address',
  async (kind, makeText) => {
    const { send, sendMany } = await openFresh()
    const responses = await sendMany(125, makeText)
    expect(statusesOf(responses)).toEqual({ 401: 120, 429: 5 })
    const refused = responses.at(-1)
    expect(refused?.json().error).toBe('rate_limited')
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThanOrEqual(1)
    expect(refused?.headers).toMatchObject({ 'x-ratelimit-limit': '120', 'x-ratelimit-remaining': '0' })
    expect(refused?.headers['x-ratelimit-reset']).toBe(refused?.headers['retry-after'])
    expect((await send(await api.account(kind))).statusCode).toBe(200)
    expect((await send(makeText(), '203.0.113.8')).statusCode).toBe(401)
  },
)

it('a server counts an IPv6 network of 64 bits as one address, and IPv4 in IPv6 notation as IPv4', async () => {
  const { send } = await openFresh()
  for (let host = 1; host <= 120; host++) await send('nonsense', `2001:db8::${host.toString(16)}`)
  for (let sent = 0; sent < 120; sent++) await send('nonsense', '::ffff:203.0.113.9')
  const statusOf = async (address: string) => (await send('nonsense', address)).statusCode
  expect(await statusOf('2001:db8:0:0:ffff::')).toBe(429)
  expect(await statusOf('2001:db8:0:1::1')).toBe(401)
  expect(await statusOf('203.0.113.9')).toBe(429)
})

it('a server counts malformed and unknown keys separately', async () => {
  const { send, sendMany } = await openFresh()
  await sendMany(121, () => 'nonsense')
  expect((await send('nonsense')).statusCode).toBe(429)
  expect((await send(makeKeyText())).json().error).toBe('invalid_api_key')
})

it('a server rejects a revoked or expired key 120 times a minute with the reason, then with 429; other keys are not affected', async () => {
  const { send, sendMany } = await openFresh()
  const valid = await api.account('ended')
  const revoked = await makeKey(api.stores, 'ended')
  await revokeKey(api.stores.postgres, revoked.id)
  const expired = await makeKey(api.stores, 'ended', undefined, { expiresAt: new Date(testNowMs) })
  for (const [key, code] of [
    [revoked.key, 'revoked_api_key'],
    [expired.key, 'expired_api_key'],
  ] as const) {
    const responses = await sendMany(125, () => key)
    expect(statusesOf(responses)).toEqual({ 401: 120, 429: 5 })
    expect(responses[0]?.json().error).toBe(code)
    expect(responses.at(-1)?.json()).toMatchObject({
      error: 'rate_limited',
      message: expect.stringContaining('revoked or expired'),
    })
    expect((await send(valid)).statusCode).toBe(200)
  }
})

describe('key look-ups', () => {
  /** The real Postgres; counts statements, and `running` ones without a response. */
  function observed(isHung: () => boolean = () => false) {
    const state = { statements: 0, running: 0, runningMax: 0 }
    const postgres = interceptPostgres(api.stores.postgres, async (_, run) => {
      state.statements += 1
      state.running += 1
      state.runningMax = Math.max(state.runningMax, state.running)
      const rows = await (isHung() ? new Promise(() => {}) : run())
      state.running -= 1
      return rows
    })
    return { state, postgres }
  }

  it('looks up any number of unknown keys with two concurrent statements', async () => {
    const real = hashOfKey(await api.account('among-many'))
    const { state, postgres } = observed()
    const lookUp = openKeyLookUps(postgres, 30_000)
    const invented = Array.from({ length: 3_000 }, () => hashOfKey(makeKeyText()))
    const found = await Promise.all([...invented, real].map(lookUp))
    expect(found.slice(0, -1).every((record) => record === null)).toBe(true)
    expect(found.at(-1)).toMatchObject({ accountId: 'among-many' })
    expect(state.runningMax).toBeLessThanOrEqual(2)
    expect(state.statements).toBeLessThanOrEqual(14)
  })

  it('responds unavailable above 5,000 queued key look-ups', async () => {
    const lookUp = openKeyLookUps(observed().postgres, 30_000)
    const results = await Promise.allSettled(Array.from({ length: 6_000 }, () => lookUp(hashOfKey(makeKeyText()))))
    const refused = results.filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThan(0)
    for (const result of refused) expect(result).toMatchObject({ reason: { code: 'unavailable' } })
    expect(results.length - refused.length).toBeGreaterThanOrEqual(5_000)
  })

  it('continues key look-ups after statements that time out', async () => {
    const real = hashOfKey(await api.account('after-hang'))
    let isHung = true
    const lookUp = openKeyLookUps(observed(() => isHung).postgres, 50)
    const hung = await Promise.allSettled([lookUp(real), lookUp(hashOfKey(makeKeyText()))])
    expect(hung).toEqual([0, 1].map(() => ({ status: 'rejected', reason: tooLate })))
    isHung = false
    // On a busy machine a look-up may take longer than the deadline of 50 ms.
    await expect.poll(() => lookUp(real).catch(() => null)).toMatchObject({ accountId: 'after-hang' })
  })
})

it('a server rejects a repeated Authorization header, also if one of its keys is valid, in any case of its name', async () => {
  const { app } = await openFresh()
  await app.listen({ port: 0 })
  const key = await api.account('repeated')
  const answerTo = async (path: string, headers: readonly string[]) => {
    const request = ['GET ', path, ' HTTP/1.1\r\nHost: x\r\nConnection: close\r\n', ...headers, '\r\n'].join('')
    const [head = '', body = ''] = (await sendRaw(app, request)).split('\r\n\r\n')
    return [Number(head.split(' ')[1]), JSON.parse(body).error]
  }
  const valid = `Authorization: ApiKey ${key}\r\n`
  const other = `authorization: ApiKey ${makeKeyText()}\r\n`
  for (const headers of [
    [valid, valid],
    [valid, other],
    [other, valid],
    [valid, 'AUTHORIZATION:\r\n'],
    ['Authorization:\r\n', valid],
  ])
    expect(await answerTo(url, headers)).toEqual([400, 'invalid_authorization'])
  expect(await answerTo('/api/v1/nowhere', [valid, valid])).toEqual([404, 'not_found'])
  expect(await answerTo(url, [valid])).toEqual([200, undefined])
})
