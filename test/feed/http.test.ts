// @module-tag all

import { readFileSync, statSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { openFeedReader } from '../../src/feed/readRows.ts'
import { originsOf } from '../../src/feed/rowOrigins.ts'
import { findDifferences } from '../../src/writer/repair/differences.ts'
import { rowsOf } from '../import/runImport.ts'
import { useFolder, useOpened, useTestStores } from '../kit/fixtures.ts'
import { interceptPostgres } from '../kit/interceptedPostgres.ts'
import { openRaw, sendRaw } from '../kit/rawConnection.ts'
import { changeTables } from '../kit/rows.ts'
import { withWriter } from '../writer/withWriter.ts'
import { clickOf, conversionOf, openTestFeed, sendTo, type TestFeed, token } from './openFeed.ts'

const folder = useFolder()
const stores = useTestStores()
const feed = useOpened<TestFeed>(async () => openTestFeed(stores, { rejects: folder('rejects.ndjson') }))
beforeAll(async () => {
  for (const id of ['acme', 'beta', 'full-disk'])
    await createAccount(stores.postgres, { id, name: id, plan: 'scale', currency: 'EUR' })
})

async function count(table: string, condition: string): Promise<number | undefined> {
  const query = `SELECT count() AS rows FROM ${table} FINAL WHERE ${condition}`
  return (await rowsOf<{ rows: number }>(stores, query))[0]?.rows
}

const ofSender = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }

/** The seconds of `Retry-After`. */
const random = expect.stringMatching(/^([5-9]|[12]\d|30)$/)

async function postBytes(body: Buffer | string, headers: Record<string, string> = {}, { inject } = feed.app) {
  const response = await inject({
    method: 'POST',
    url: '/rows',
    headers: { ...ofSender, ...headers },
    payload: body,
  })
  return { status: response.statusCode, body: response.body, headers: response.headers }
}

describe('POST /rows', () => {
  it('responds with the result of each row in order, of several accounts and resources', async () => {
    const rows = [
      { accountId: 'acme', resource: 'campaigns', id: 'spring', name: 'Spring' },
      clickOf('acme', 'c1', { campaignId: 'spring', country: 'DE' }),
      clickOf('beta', 'c1'),
      conversionOf('acme', 'v1', { clickId: 'c1', updatedAt: '2026-11-20T11:00:00Z' }),
      { accountId: 'acme', resource: 'pixel-events', id: 'e1', eventName: 'signup', clickId: 'c1' },
      { ...clickOf('acme', 'c2'), device: 'fridge' },
      clickOf('acme', 'c1', { campaignId: 'spring' }),
    ]
    const { status, results } = await feed.send(rows)
    expect(status).toBe(200)
    const inserted = { result: 'inserted' }
    const reason = expect.stringMatching(/^device: must be one of /)
    const expected = [inserted, inserted, inserted, inserted, inserted, { result: 'rejected', reason }]
    expect(results).toEqual([...expected, { result: 'duplicate' }])
    expect(await count('clicks', `id = 'c1'`)).toBe(2)
    expect(await count('conversions', `account_id = 'acme' AND click_campaign_id = 'spring'`)).toBe(1)
    expect(await count('pixel_events', `account_id = 'acme' AND user_id = 'acme'`)).toBe(1)
  })

  it('reports a click that differs from the stored one', async () => {
    const { results } = await feed.send([
      clickOf('acme', 'c3', { country: 'DE' }),
      clickOf('acme', 'c3', { country: 'FR' }),
    ])
    expect(results).toEqual([
      { result: 'inserted' },
      { result: 'conflict', reason: 'country: differs from the stored row' },
    ])
    const again = await feed.send([clickOf('acme', 'c3', { country: 'FR' }), clickOf('acme', 'c3')])
    expect(again.results.map(({ result }) => result)).toEqual(['conflict', 'duplicate'])
  })

  it('notes a campaign that the account does not have, and a time more than a day ahead', async () => {
    const ahead = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
    const own = { accountId: 'beta', resource: 'campaigns', id: 'own', name: 'Own' }
    const { results } = await feed.send([
      clickOf('beta', 'n1', { campaignId: 'own', clickedAt: ahead(23) }),
      clickOf('beta', 'n2', { campaignId: 'spring', clickedAt: ahead(25) }),
      own,
    ])
    const notes = ['clickedAt: is more than a day ahead', 'campaignId: the account has no such campaign']
    expect(results).toEqual([{ result: 'inserted' }, { result: 'inserted', notes }, { result: 'inserted' }])
  })

  it('sets updated_at for conversions without updatedAt', async () => {
    const query = '?updated_at=2026-11-22T01:00:00+01:00'
    await feed.send([conversionOf('acme', 'v3'), conversionOf('acme', 'v4', { updatedAt: '2026-11-21T00:00:00Z' })])
    const changed = ['v3', 'v4'].map((id) => conversionOf('acme', id, { status: 'approved' }))
    const given = { ...changed[1], updatedAt: '2026-11-21T00:00:00Z' }
    const { results } = await feed.send([...changed.slice(0, 1), given], query)
    expect(results.map(({ result }) => result)).toEqual(['updated', 'conflict'])
    const invalid = await feed.send(changed, '?updated_at=yesterday')
    expect([invalid.status, invalid.results[0].error]).toEqual([400, 'invalid_updated_at'])
    const unknown = await feed.send(changed, '?update_at=2026-11-22T00:00:00Z')
    expect([unknown.status, unknown.results[0].error]).toEqual([400, 'unknown_parameter'])
  })

  it('takes the time of arrival as updatedAt with --updated-at arrival; the later row wins, also when the clock is set back across a restart', async () => {
    let nowMs = 1_764_000_000_000
    const first = await listen({ origin: originsOf(true, () => nowMs) })
    let { app } = first
    const send = async (...states: string[]) => {
      const rows = states.map((status) => conversionOf('acme', 'v9', { status }))
      return (await sendTo(app, rows)).results.map(({ result }) => result)
    }
    expect(await send('pending', 'approved')).toEqual(['inserted', 'updated'])
    nowMs -= 60_000
    ;({ app } = await listen({ origin: originsOf(true, () => nowMs) }))
    expect(await send('pending', 'declined')).toEqual(['updated', 'updated'])
    const spend = (cost: number) => ({
      accountId: 'acme',
      resource: 'costs',
      id: 'd9',
      spentAt: '2026-11-20T00:00:00Z',
      cost,
    })
    expect((await sendTo(first.app, [spend(1)])).results).toEqual([{ result: 'inserted' }])
    nowMs -= 60_000
    expect((await sendTo(app, [spend(2)])).results).toEqual([{ result: 'updated' }])
    const given = conversionOf('acme', 'v9', { status: 'approved', updatedAt: '2025-01-01T00:00:00Z' })
    expect((await sendTo(app, [given])).results).toEqual([{ result: 'older' }])
    expect(await count('conversions', `id = 'v9' AND status = 'declined'`)).toBe(1)
  })

  it('leaves every table and sum equal to the rows', async () => {
    const differences = await withWriter(stores, 'acme', (writer) => findDifferences(writer))
    expect(differences).toEqual([])
  })

  it('writes rejected and conflicting rows to FEED_REJECTS, for its user alone', async () => {
    const bad = { accountId: 'acme', resource: 'clicks', id: 'only-in-rejects' }
    await feed.send([bad])
    const path = folder('rejects.ndjson')
    const lines = readFileSync(path, 'utf8').trim().split('\n')
    const last = JSON.parse(lines.at(-1) ?? '')
    expect(last).toMatchObject({ source: 'http', reason: 'clickedAt: is required', row: JSON.stringify(bad) })
    expect(lines.some((line) => line.includes('country: differs from the stored row'))).toBe(true)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})

describe('a body', () => {
  it('without rows has no results, and blank lines are no rows', async () => {
    expect(await postBytes('')).toMatchObject({ status: 200, body: '' })
    expect(await postBytes('\n \r\n')).toMatchObject({ status: 200, body: '' })
  })

  it('may be compressed with gzip, and ends at 16 MiB also then', async () => {
    const { results } = await feed.send([clickOf('acme', 'g1')])
    const body = gzipSync(`${JSON.stringify(clickOf('acme', 'g1'))}\n`)
    const gzip = { 'content-encoding': 'gzip' }
    expect(results).toEqual([{ result: 'inserted' }])
    expect(await postBytes(body, gzip)).toMatchObject({ status: 200, body: '{"result":"duplicate"}\n' })
    const large = Buffer.alloc(16 << 20, ' ')
    expect(await postBytes(large)).toMatchObject({ status: 200 })
    expect(await postBytes(gzipSync(large), gzip)).toMatchObject({ status: 200 })
    const larger = Buffer.alloc((16 << 20) + 1, ' ')
    expect(await postBytes(larger)).toMatchObject({ status: 413 })
    expect(await postBytes(gzipSync(larger), gzip)).toMatchObject({ status: 413 })
    expect(await postBytes(body.subarray(0, 40), gzip)).toMatchObject({ status: 400 })
    expect(await postBytes(body, { 'content-encoding': 'br' })).toMatchObject({ status: 415 })
  })

  it('may have 10,000 lines; a body with more is refused before its lines are read', async () => {
    expect((await postBytes('{}\n'.repeat(10_000))).body.trim().split('\n')).toHaveLength(10_000)
    expect(await postBytes('{}\n'.repeat(10_001))).toMatchObject({ status: 413 })
    expect(await postBytes(gzipSync('\n'.repeat(16 << 20)), { 'content-encoding': 'gzip' })).toMatchObject({
      status: 413,
    })
    expect(await postBytes(`${'\n'.repeat(9_999)}{}`)).toMatchObject({ status: 200 })
  })

  it('of long rows of numbers takes little CPU time', async () => {
    const row = (field: string) =>
      `{"accountId":"acme","resource":"clicks","id":[1],"${field}":[${'1.0,'.repeat(32_000)}1]}`
    const [unknown, known] = [row('x'), row('id')]
    const before = process.cpuUsage()
    const { body } = await postBytes([...Array(60).fill(unknown), ...Array(60).fill(known)].join('\n'))
    const { user, system } = process.cpuUsage(before)
    expect(new Set(body.match(/x: is not a field of clicks|id: must be text/g))).toHaveLength(2)
    // Read exactly, the numbers take 10 s.
    expect(user + system).toBeLessThan(4_000_000)
  })

  it('must be NDJSON in UTF-8', async () => {
    expect(await postBytes('{}', { 'content-type': 'application/json' })).toMatchObject({ status: 415 })
    const latin1 = Buffer.concat([Buffer.from(JSON.stringify(clickOf('acme', 'l1'))), Buffer.from([0x0a, 0xe9])])
    expect(await postBytes(latin1)).toMatchObject({ status: 400 })
    expect(await count('clicks', `id = 'l1'`)).toBe(0)
  })

  it('rejects a bad row alone: no JSON, no object, too long, or without account or resource', async () => {
    const lines = [
      'no json',
      '[1]',
      '{}{}',
      JSON.stringify({ ...clickOf('acme', 'r1'), referrer: 'x'.repeat(128 << 10) }),
      JSON.stringify(clickOf('acme', 'r1', { clickedAt: '2026-11-20' })),
      JSON.stringify({ ...clickOf('acme', 'r1'), accountId: undefined }),
      JSON.stringify({ ...clickOf('acme', 'r1'), accountId: 7 }),
      JSON.stringify({ ...clickOf('acme', 'r1'), accountId: 'a b' }),
      JSON.stringify({ ...clickOf('acme', 'r1'), resource: 'constructor' }),
      `{"accountId":"acme","resource":"clicks","id":"r2","clickedAt":"2026-11-20T10:00:00Z","__proto__":{"x":1}}`,
      JSON.stringify(clickOf('acme', 'r3')),
    ]
    const { status, body } = await postBytes(lines.join('\n'))
    const results = body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(status).toBe(200)
    expect(results.map(({ result, reason }) => reason ?? result)).toEqual([
      'is not JSON',
      'is a JSON array; write one object per line',
      'has more than one JSON value; end each row with a line feed (curl: --data-binary)',
      'is longer than 131072 bytes',
      'clickedAt: must have an offset, as 2026-11-21T03:00:00Z has',
      'accountId: is required',
      'accountId: must be text',
      'accountId: there is no such account',
      expect.stringMatching(/^resource: must be one of campaigns, /),
      '__proto__: is not a field of clicks',
      'inserted',
    ])
  })

  it('of 100,000 unknown accounts costs one query for 10,000, none when they are repeated, and leaves nothing behind', async () => {
    let queries = 0
    const postgres = interceptPostgres(stores.postgres, (text, run) => {
      if (/^\s*SELECT/.test(text)) queries += 1
      return run()
    })
    const readRows = openFeedReader(postgres)
    const linesOf = (part: number) =>
      Array.from({ length: 10_000 }, (_, index) => ({
        number: index + 1,
        text: `{"accountId":"u${part}-${index}","resource":"clicks"}`,
      }))
    const read = async (part: number) => {
      const rows = await readRows(linesOf(part), originsOf(false, Date.now)())
      expect(new Set(rows.map((row) => 'reason' in row && row.reason))).toEqual(
        new Set(['accountId: there is no such account']),
      )
    }
    for (let part = 0; part < 10; part += 1) await read(part)
    expect(queries).toBe(10)
    for (let time = 0; time < 3; time += 1) await read(9)
    expect(queries).toBe(10)
    const odd = ['\u0000', 'a b', 'x'.repeat(65), 'ü']
    const rows = odd.map((accountId) => `${JSON.stringify({ accountId, resource: 'clicks' })}\n`)
    const { status, body } = await postBytes(rows.join(''))
    expect([status, new Set(body.trim().split('\n')).size]).toEqual([200, 1])
    expect(feed.feed.queue.held.open).toBe(0)
  })
})

describe('a sender', () => {
  it.each([
    ['without a token', undefined],
    ['with another token', `Bearer ${token.replace('a', 'b')}`],
    ['with a prefix of the token', `Bearer ${token.slice(0, -1)}`],
    ['with another scheme', `ApiKey ${token}`],
  ])('%s gets 401 before its body is read', async (_, authorization) => {
    const listening = await listen()
    const header = authorization === undefined ? '' : `Authorization: ${authorization}\r\n`
    const head = `POST /rows HTTP/1.1\r\nHost: x\r\n${header}Content-Type: application/x-ndjson\r\nContent-Length: 9000000\r\n\r\n`
    const { received } = await openRaw(listening.app, head)
    await expect.poll(received).toMatch(/^HTTP\/1\.1 401 /)
    expect(received()).toMatch(/\r\nwww-authenticate: Bearer\r\n/)
  })

  it('may write the scheme of its token in any case', async () => {
    expect(await postBytes('', { authorization: `bearer ${token}` })).toMatchObject({ status: 200 })
  })

  it('that sends its body too slowly gets 408', async () => {
    const { app } = await listen({ arrivalMs: 300 })
    const { received } = await openRaw(app, `${headOf(100)}{"accountId"`)
    await expect.poll(received).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('that disconnects before the result has its rows stored, and others are served', async () => {
    const { app } = await listen()
    const body = JSON.stringify(clickOf('acme', 'gone'))
    const { socket } = await openRaw(app, `${headOf(body.length)}${body}`)
    socket.destroy()
    await expect.poll(async () => (await feed.send([clickOf('acme', 'gone')])).results[0].result).toBe('duplicate')
  })

  it('that fails after its body was read is logged with its error', async () => {
    const lines: string[] = []
    const log = pino({}, { write: (line) => void lines.push(line) })
    let calls = 0
    const broken = () => {
      calls += 1
      if (calls > 1) throw new Error('broken')
      return feed.feed
    }
    const { app } = await listen({ feed: broken, log })
    const { received } = await openRaw(app, `${headOf(2)}{}`)
    await expect.poll(received).toMatch(/^HTTP\/1\.1 500 /)
    expect(lines.map((line) => JSON.parse(line).msg)).toContain('internal error')
  })

  it('is asked to retry when its rows are not stored in time', async () => {
    const { app } = await listen({ resultMs: 0 })
    const { status, headers, results } = await sendTo(app, [clickOf('acme', 'later')])
    expect([status, headers['retry-after'], ...results]).toEqual([
      503,
      random,
      { result: 'retry', reason: 'is not stored yet' },
    ])
  })

  it('is asked to retry at once while bodies of 128 MiB are being received', async () => {
    const { app } = await listen()
    const senders = await Promise.all(Array.from({ length: 7 }, () => openRaw(app, headOf(16 << 20))))
    const refused = await openRaw(app, headOf(16 << 20))
    await expect.poll(refused.received).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: \d+\r\n/)
    expect((await sendTo(app, [clickOf('acme', 'c1')])).status).toBe(200)
    const chunked = await openRaw(app, headOf('chunked'))
    chunked.socket.write('2\r\n{}\r\n0\r\n\r\n')
    await expect.poll(chunked.received).toMatch(/^HTTP\/1\.1 200 /)
    const larger = await openRaw(app, headOf('chunked'))
    larger.socket.write(`${(16 << 20).toString(16)}\r\n${' '.repeat(16 << 20)}`)
    await expect.poll(larger.received).toMatch(/^HTTP\/1\.1 503 /)
    for (const { socket } of senders) socket.destroy()
    await expect.poll(async () => (await postBytes(Buffer.alloc(16 << 20, ' '), {}, app)).status).toBe(200)
  })

  it('is asked to retry before its body is read once rows wait 20 s, and one such request a minute is logged', async () => {
    const lines: string[] = []
    const { app, other } = await listen({ feed: undefined, log: pino({}, { write: (line) => void lines.push(line) }) })
    const wait = vi.spyOn(other.feed.queue, 'expectedWaitMs').mockReturnValue(20_000)
    for (let time = 0; time < 3; time += 1) {
      const { received } = await openRaw(app, headOf(9_000_000))
      await expect.poll(received).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: ([5-9]|[12]\d|30)\r\n/)
    }
    expect(lines.filter((line) => line.includes('Too many rows wait'))).toHaveLength(1)
    wait.mockReturnValue(19_999)
    expect((await sendTo(app, [])).status).toBe(200)
  })

  it('is asked to retry at once while 100,000 rows wait, also when many requests arrive at the same time', async () => {
    const { app, other } = await listen({ feed: undefined })
    await withWriter(stores, 'beta', async () => {
      const rows = Array.from({ length: 10_000 }, (_, index) => clickOf('beta', `full-${index}`))
      const senders = Array.from({ length: 14 }, () => sendTo(app, rows))
      const refused = await Promise.race(senders)
      expect([refused.status, refused.headers['retry-after'], refused.results[0].error]).toEqual([
        503,
        random,
        'unavailable',
      ])
      await expect.poll(() => other.feed.queue.held.open).toBe(100_000)
      expect((await sendTo(app, [clickOf('acme', 'full')])).status).toBe(503)
      other.feed.queue.close()
      const results = (await Promise.all(senders)).map(({ status, results }) => `${status} ${results.length}`)
      expect(results.toSorted()).toEqual([...Array(4).fill('503 1'), ...Array(10).fill('503 10000')])
    })
  })

  it('gets 503 with Retry-After while the server closes', async () => {
    const { app } = await listen({ feed: () => undefined })
    const [line = '', rest = ''] = headOf(0).split(/(?<=HTTP\/1\.1\r\n)/)
    const { socket, received } = await openRaw(app, line)
    // The server has read the line when it responds to a later request.
    expect(await sendRaw(app, headOf(0))).toMatch(/^HTTP\/1\.1 503 /)
    const closed = app.close()
    socket.write(rest)
    await expect.poll(received).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: \d+\r\n/)
    await closed
  })

  it('gets 503 while the disk of ClickHouse is full, with one warning; its rows are stored once there is space', async () => {
    const { app, other } = await listen({ feed: undefined, resultMs: 3_000 })
    const setting = 'min_free_disk_bytes_to_perform_insert'
    await changeTables(stores, `ALTER TABLE clicks MODIFY SETTING ${setting} = ${Number.MAX_SAFE_INTEGER}`)
    try {
      for (let time = 0; time < 2; time += 1) expect((await sendTo(app, [clickOf('full-disk', 'd1')])).status).toBe(503)
      expect(other.warnings).toEqual([expect.stringMatching(/rows wait\. ClickHouse cannot write to its disk; free/)])
      expect((await app.inject('/readyz')).statusCode).toBe(503)
    } finally {
      await changeTables(stores, `ALTER TABLE clicks RESET SETTING ${setting}`)
    }
    await expect
      .poll(async () => (await sendTo(app, [clickOf('full-disk', 'd1')])).results[0].result)
      .toMatch(/inserted|duplicate/)
    expect(await count('clicks', `id = 'd1'`)).toBe(1)
    expect(other.warnings).toHaveLength(1)
  })
})

it('an account that another writer has delays its rows only; all others are stored, and the sender retries', async () => {
  const { app } = await listen({ resultMs: 2_000 })
  await withWriter(stores, 'acme', async () => {
    const { status, headers, results } = await sendTo(app, [clickOf('acme', 'w1'), clickOf('beta', 'w1')])
    expect([status, headers['retry-after']]).toEqual([503, random])
    expect(results).toEqual([{ result: 'retry', reason: 'another writer has the account' }, { result: 'inserted' }])
  })
  const { status, results } = await feed.send([clickOf('acme', 'w1'), clickOf('beta', 'w1')])
  expect([status, ...results]).toEqual([200, { result: 'inserted' }, { result: 'duplicate' }])
})

/** Opens another server on a free port: of the same feed, or of its own with `{ feed: undefined }`. */
async function listen(parts: NonNullable<Parameters<typeof openTestFeed>[1]> | { feed: undefined } = {}) {
  const { feed: present = 'feed' in parts ? undefined : () => feed.feed, ...rest } = parts
  const other = openTestFeed(stores, present ? { feed: present, ...rest } : rest)
  onTestFinished(() => other.close())
  await other.app.listen({ host: '127.0.0.1', port: 0 })
  return { app: other.app, other }
}

function headOf(bytes: number | 'chunked'): string {
  const length = bytes === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`
  return `POST /rows HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/x-ndjson\r\n${length}\r\n\r\n`
}
