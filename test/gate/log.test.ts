import { Writable } from 'node:stream'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openLog } from '../../src/gate/log.ts'
import { openProbe, type Probe } from './probe.ts'

const lines: string[] = []
let probe: Probe

beforeAll(async () => {
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(`${chunk}`)
      done()
    },
  })
  probe = await openProbe({ log: openLog('trace', destination) })
})
afterAll(() => probe.close())

it('says for every answer what was asked, by whom and how it ended', async () => {
  const key = await probe.key('logged')
  const answer = await probe.app.inject({
    url: '/api/v1/probe?group_by=day&limit=7',
    headers: { authorization: `ApiKey ${key}` },
  })
  const entries = lines.map((line) => JSON.parse(line))
  const entry = entries.find(({ reqId }) => reqId === answer.headers['x-request-id'])
  expect(entry).toMatchObject({
    level: 30,
    msg: 'answered',
    method: 'GET',
    url: '/api/v1/probe?group_by=day&limit=7',
    status: 200,
    account: 'logged',
    key: expect.stringMatching(/^[0-9a-f-]{36}$/),
    ms: expect.any(Number),
  })
})

it('says what a bug is, which the caller is not told', async () => {
  const key = await probe.key('buggy')
  const answer = await probe.app.inject({ url: '/api/v1/bug', headers: { authorization: `ApiKey ${key}` } })
  const entries = lines.map((line) => JSON.parse(line)).filter(({ reqId }) => reqId === answer.json().requestId)
  expect(entries.find(({ level }) => level === 50)?.err.message).toBe('a secret of the inside')
})

it('never holds a key, wherever callers put it', async () => {
  const key = await probe.key('careless')
  const authorization = `ApiKey ${key}`
  const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
  const answers = []
  for (const request of [
    { url: '/api/v1/probe?group_by=day', headers: { authorization } },
    { url: '/api/v1/probe?group_by=day', headers: { authorization: `Bearer ${key}` } },
    { url: '/api/v1/probe?group_by=day', headers: { authorization: `ApiKey ${wrong}` } },
    { url: `/api/v1/probe?api_key=${key}`, headers: { authorization } },
    { url: `/api/v1/probe?${key}=1`, headers: {} },
    { url: `/api/v1/probe/${key}`, headers: { authorization } },
    { url: `/${key}`, headers: {} },
    { url: `/api/v1/probe/%zz${key}`, headers: {} },
    { url: `/api/v1/bug?${key}`, headers: { authorization } },
    { url: '/api/v1/bug', headers: { authorization, 'x-api-key': key, cookie: key } },
    {
      url: '/api/v1/events',
      method: 'POST' as const,
      headers: { authorization, 'content-type': 'application/json' },
      payload: `{${key}`,
    },
    { url: '/api/v1/events', method: 'POST' as const, headers: { authorization, 'content-type': key }, payload: key },
  ]) {
    answers.push(await probe.app.inject(request))
  }
  const log = lines.join('')
  for (const secret of [key, wrong]) {
    expect(log).not.toContain(secret)
    expect(log).not.toContain(secret.slice('trb_live_'.length))
  }
  expect(log).toContain('trb_live_…')
  expect(log).not.toContain('authorization')
  const errors = answers.filter(({ statusCode }) => statusCode >= 400).map(({ body }) => body)
  expect(errors).toHaveLength(answers.length - 1)
  for (const body of errors) expect(body).not.toContain(key)
})
