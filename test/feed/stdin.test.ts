// @module-tag all

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAccount } from '../../src/accounts/accounts.ts'
import { originsOf } from '../../src/feed/rowOrigins.ts'
import { type StreamProgress, streamSource } from '../../src/feed/stdin.ts'
import { commandFile, exitOf, runHere, start } from '../cli/runCommand.ts'
import { rowsOf } from '../import/runImport.ts'
import { useFolder, useTestStores } from '../kit/fixtures.ts'
import { freePort } from '../kit/serverProcess.ts'
import { withWriter } from '../writer/withWriter.ts'
import { clickOf, openTestFeed, token } from './openFeed.ts'

const folder = useFolder()
const stores = useTestStores()
beforeAll(async () => {
  for (const id of ['acme', 'beta'])
    await createAccount(stores.postgres, { id, name: id, plan: 'scale', currency: 'EUR' })
})

async function idsOf(prefix: string): Promise<string[]> {
  const query = `SELECT concat(account_id, ' ', id) AS id FROM clicks WHERE startsWith(clicks.id, '${prefix}') ORDER BY id`
  return (await rowsOf<{ id: string }>(stores, query)).map(({ id }) => id)
}

/** Random from 5 to 30 seconds, so that senders do not return together. */
const retryAfter = expect.stringMatching(/^([5-9]|[12]\d|30)$/)

const ndjson = (...rows: object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** Starts a process that ends with the test. */
function open(words: string[], environment: Record<string, string> = {}) {
  const child = start(words, { ...stores.environment, FEED_FLUSH_MS: '500', ...environment })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  createInterface(child.stdout).on('line', (line) => lines.push(line))
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  return { child, lines, log: () => errors, exit: exitOf(child) }
}

describe('tributary feed --stdin', () => {
  it('stores rows of an open pipe, says up to which line, waits at the end for an account that another writer has, and ends with 0', async () => {
    const { child, lines, exit, log } = open(['feed', '--stdin'], { FEED_REJECTS: folder('rejects') })
    child.stdin.write(`${ndjson(clickOf('acme', 'a1'))}no json\n${ndjson(clickOf('acme', 'a1', { country: 'FR' }))}`)
    await expect.poll(() => lines).toEqual(['{"line":3,"duplicates":0,"older":0,"conflicts":1,"rejected":1}'])
    expect(await idsOf('a')).toEqual(['acme a1'])
    await withWriter(stores, 'beta', async () => {
      child.stdin.end(ndjson(clickOf('beta', 'a2'), clickOf('acme', 'a3')).trimEnd())
      await expect.poll(() => idsOf('a')).toEqual(['acme a1', 'acme a3'])
    })
    expect(await exit).toBe(0)
    expect(log()).toMatch(/^([^\n]+Rows wait for process \d+ on \S+, which has their accounts: beta[^\n]+\n)?$/)
    expect(lines.slice(1)).toEqual(['{"line":5,"duplicates":0,"older":0,"conflicts":1,"rejected":1}'])
    expect(await idsOf('a')).toEqual(['acme a1', 'acme a3', 'beta a2'])
    const rejects = readFileSync(folder('rejects'), 'utf8').trim().split('\n')
    expect(rejects.map((line) => JSON.parse(line).reason)).toEqual([
      'is not JSON',
      'country: differs from the stored row',
    ])
  })

  it('leaves out a last line that was cut, and ends with 1: sent again from the next line on, nothing is lost', async () => {
    const update = {
      accountId: 'acme',
      resource: 'conversions',
      id: 'k1',
      status: 'approved',
      convertedAt: '2026-11-20T11:00:00Z',
    }
    const rows = ndjson(
      update,
      { ...update, updatedAt: '2026-11-01T00:00:00Z' },
      clickOf('acme', 'k1'),
      clickOf('acme', 'k1'),
    )
    const { child, lines, exit, log } = open(['feed', '--stdin'])
    child.stdin.end(`${rows}${JSON.stringify(clickOf('acme', 'k2')).slice(0, 60)}`)
    expect([await exit, log()]).toEqual([1, expect.stringMatching(/^error: .* ended within a row, in line 5; .*\n$/)])
    expect(lines.at(-1)).toBe('{"line":4,"duplicates":1,"older":1,"conflicts":0,"rejected":0}')
    expect(await idsOf('k')).toEqual(['acme k1'])
  })

  it('ends with 1 when every row was rejected, or at once when FEED_REJECTS cannot be written', async () => {
    const all = open(['feed', '--stdin'])
    all.child.stdin.end('no json\n')
    expect([await all.exit, all.lines]).toEqual([1, ['{"line":1,"duplicates":0,"older":0,"conflicts":0,"rejected":1}']])
    expect(all.log()).toContain('error: every row was rejected.\n')
    const unwritable = await runHere(['feed', '--stdin'], { ...stores.environment, FEED_REJECTS: folder() })
    expect(unwritable).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: FEED_REJECTS=.*EISDIR.*\.\n$/),
    })
  })

  it('stores what it read at SIGTERM, without an incomplete line, and ends with 0', async () => {
    const { child, lines, exit } = open(['feed', '--stdin'], { FEED_FLUSH_MS: '10000' })
    child.stdin.write(ndjson(clickOf('acme', 'b1')))
    await expect.poll(() => lines).toHaveLength(1)
    // More blank lines than a pipe and a stream hold: when they are written, the rows before them were read.
    child.stdin.write(`${ndjson(clickOf('acme', 'b2'), clickOf('acme', 'b3'))}${'\n'.repeat(1_000_000)}{"accountId"`)
    await expect.poll(() => child.stdin.writableLength).toBe(0)
    expect(await idsOf('b')).toEqual(['acme b1'])
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
    expect(lines.at(-1)).toMatch(/^\{"line":\d+,"duplicates":0,/)
    expect(await idsOf('b')).toEqual(['acme b1', 'acme b2', 'acme b3'])
  })

  it('counts and rejects at SIGTERM no line that was read with or after one that waits for another writer', async () => {
    await withWriter(stores, 'beta', async () => {
      const { child, lines, exit, log } = open(['feed', '--stdin'])
      child.stdin.write(`${ndjson(clickOf('acme', 'd1'))}\n`)
      await expect.poll(() => lines).toEqual([expect.stringMatching(/^\{"line":2,/)])
      child.stdin.write(`no json\n${ndjson(clickOf('beta', 'd2'), clickOf('acme', 'd3'))}no json\n`)
      await expect.poll(() => idsOf('d')).toEqual(['acme d1', 'acme d3'])
      child.kill('SIGTERM')
      expect(await exit).toBe(0)
      expect(lines.at(-1)).toMatch(/^\{"line":2,.*"rejected":0\}$/)
      expect(log()).toBe('')
    })
  })

  it('rejects a row that has waited for another writer for 60 s', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const { feed, close } = openTestFeed(stores, { rejects: folder('late') })
    const input = new PassThrough()
    const interrupt = new AbortController()
    const progress: StreamProgress[] = []
    const onProgress = (state: StreamProgress) => void progress.push(state)
    const source = streamSource(input, originsOf(false, Date.now), onProgress)
    const reading = source.run(feed, interrupt.signal)
    const late = clickOf('beta', 'g1')
    await withWriter(stores, 'beta', async () => {
      input.write(ndjson(late, clickOf('acme', 'g1')))
      await expect.poll(() => feed.queue.isWaiting('beta')).toBe(true)
      vi.advanceTimersByTime(60_000)
      await expect.poll(() => progress).toMatchObject([{ line: 2, rejected: 1 }])
      input.write(ndjson(clickOf('beta', 'g2')))
      await expect.poll(() => feed.queue.held.open).toBe(1)
      interrupt.abort()
      await reading
      await close()
      await source.drain()
    })
    expect(progress.at(-1)).toMatchObject({ line: 2, rejected: 1 })
    const rejects = readFileSync(folder('late'), 'utf8').trim().split('\n')
    expect(rejects.map((line) => JSON.parse(line))).toMatchObject([{ reason: 'waiting', row: JSON.stringify(late) }])
  })
})

it('stores what it read, and rejects no row that waits, when the reader of its standard output ends', async () => {
  await withWriter(stores, 'beta', async () => {
    const { child, exit, log } = open(['feed', '--stdin'])
    child.stdout.destroy()
    // A stream has 64 KiB: the second row is read by itself, while the first one is stored.
    child.stdin.write(`${ndjson(clickOf('acme', 'h1'))}${'\n'.repeat(70_000)}${ndjson(clickOf('beta', 'h1'))}`)
    expect([await exit, log()]).toEqual([0, ''])
  })
  expect(await idsOf('h')).toEqual(['acme h1'])
})

it('stores what it read and fails when its standard output cannot be written', async () => {
  const words = ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, commandFile, 'feed', '--stdin']
  const input = ndjson(clickOf('acme', 'i1'))
  const ended = spawnSync('/bin/sh', words, {
    env: { ...stores.environment, FEED_FLUSH_MS: '500' },
    input,
    encoding: 'utf8',
  })
  expect(ended.stderr).toMatch(/^error: standard output cannot be written: ENOSPC.*\.\n$/)
  expect(ended.status).toBe(1)
  expect(await idsOf('i')).toEqual(['acme i1'])
})

async function post(port: number, row: object) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
  const response = await fetch(`http://127.0.0.1:${port}/rows`, { method: 'POST', headers, body: ndjson(row) })
  return [response.status, response.headers.get('retry-after'), await response.text()]
}

describe('a feed', () => {
  it('waits while another one is active, with a port that responds with 503; takes rows when that has ended', async () => {
    const first = open(['feed', '--stdin'])
    first.child.stdin.write(ndjson(clickOf('acme', 'e1')))
    await expect.poll(() => first.lines).toHaveLength(1)
    const port = await freePort()
    const settings = { FEED_PORT: `${port}`, FEED_TOKEN: token }
    const second = open(['feed'], settings)
    const row = clickOf('acme', 'e2')
    await expect.poll(second.log).toContain('Another feed is active')
    expect(await post(port, row)).toEqual([503, retryAfter, expect.stringContaining('unavailable')])
    const probe = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    expect([await probe('/healthz'), await probe('/readyz'), second.lines]).toEqual([200, 503, []])
    first.child.stdin.end()
    expect(await first.exit).toBe(0)
    await expect.poll(() => second.lines).toEqual([`tributary feed takes rows at http://127.0.0.1:${port}/rows.`])
    expect(await post(port, row)).toEqual([200, null, '{"result":"inserted"}\n'])
    expect(await probe('/readyz')).toBe(200)
    second.child.kill('SIGTERM')
    expect(await second.exit).toBe(0)
  })

  it('waits for a database that does not respond yet, with a port that responds with 503, and ends at a signal', async () => {
    const [port, none] = [await freePort(), await freePort()]
    const settings = { FEED_PORT: `${port}`, FEED_TOKEN: token, DATABASE_URL: `postgres://127.0.0.1:${none}/none` }
    const waiting = open(['feed'], settings)
    await expect.poll(waiting.log).toContain('Waiting for DATABASE_URL: Postgres: ')
    expect(await post(port, clickOf('acme', 'e3'))).toEqual([503, retryAfter, expect.stringContaining('unavailable')])
    waiting.child.kill('SIGTERM')
    expect(await waiting.exit).toBe(0)
  })

  it('that is not started with a source or a token says which setting is missing', async () => {
    for (const [environment, line] of [
      [{}, 'error: FEED_PORT: set it, or use --stdin.\n'],
      [{ FEED_PORT: '1' }, 'error: FEED_TOKEN: is required with FEED_PORT.\n'],
      [
        { FEED_PORT: '1', FEED_TOKEN: 'short-secret' },
        'error: FEED_TOKEN=…: expected at least 32 letters, digits and other visible characters of ASCII.\n',
      ],
    ] as const) {
      expect(await runHere(['feed'], { ...stores.environment, ...environment })).toEqual({
        code: 1,
        stdout: '',
        stderr: line,
      })
    }
  })
})
