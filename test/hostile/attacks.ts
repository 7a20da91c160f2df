import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeKeyText } from '../../src/accounts/keyFormat.ts'
import { rawGet } from '../kit/rawConnection.ts'
import { type Accounts, fedAccounts } from './accounts.ts'
import { costlyTrees, refusedTrees } from './filterTrees.ts'

export interface AttackContext {
  port: number
  /** Of `POST /rows` of a feed on the same stores. */
  feedPort: number
  accounts: Accounts
  /** Aborts at the end of the attack and closes all of its connections. */
  signal: AbortSignal
}

export type Attack = (context: AttackContext) => Promise<void>

const staticFile = '/api/v1/docs/page/scalar.js'
/** 4 MB: 64 valid events with fields that do not exist. */
const unknownFields = (() => {
  const fields = Object.fromEntries(Array.from({ length: 7_000 }, (_, number) => [number, 0]))
  const sent = JSON.stringify({ event_name: 'x', visitor_id: 'v', campaign_id: 'camp', ...fields })
  return `{"events":[${Array(64).fill(sent).join(',')}]}`
})()
const costlyBytes = 4_194_000
/** Bodies of 4 MB that count as one event and are costly to parse. */
const costlyBatches: Record<string, string> = {
  'nested arrays': `{"events":[${'['.repeat(costlyBytes)}`,
  'one item with a million objects': `{"events":[[${Array(costlyBytes / 3)
    .fill('{}')
    .join()}]]}`,
  'an unknown field with two million items': `{"events":[{"event_name":"x","visitor_id":"v","campaign_id":"camp","x":[${Array(
    costlyBytes / 2 - 50,
  )
    .fill('0')
    .join()}]}]}`,
}
const call = (name: string, given: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`
export const feedToken = 'hostile'.repeat(5)
const rowsPerRequest = 500
let rowNumber = 0
const spacedKey = rawGet('/api/v1/key', `${' '.repeat(15_900)}x y`)
const slowSearch = `${'a'.repeat(99)}b`

/**
 * Attacks by description. They are paced: the test is whether a few requests of a kind harm other clients, not how many
 * plain requests a process can serve.
 */
export const attacks: Record<string, Attack> = {
  '1,500 pipelined documents on each of 12 connections': (context) =>
    repeat(context, 12, 1_000, () => burst(context, rawGet('/api/v1/docs/json').repeat(1_500), 1_000)),
  '300 pipelined static files on a connection, then close': (context) =>
    repeat(context, 4, 250, () => burst(context, rawGet(staticFile).repeat(300), 20)),
  '30 pipelined static files that are not read, 15 connections': (context) =>
    repeat(context, 15, 1_000, () => burst(context, rawGet(staticFile).repeat(30), 1_000)),
  '12 pipelined reads of one account, closed after 20 ms': (context) =>
    repeat(context, 4, 250, () =>
      burst(context, rawGet('/api/v1/clicks?limit=1', context.accounts.attacking).repeat(12), 20),
    ),
  'searches of 60,000 campaigns for 99 letters and another': (context) =>
    repeat(context, 8, 0, () =>
      request(context, rawGet(`/api/v1/campaigns/search?q=${slowSearch}`, context.accounts.searching)),
    ),
  'searches of 60,000 campaigns for two letters': (context) =>
    repeat(context, 8, 0, () =>
      request(context, rawGet('/api/v1/campaigns/search?q=%C3%A9%C3%A9', context.accounts.searching)),
    ),
  'searches of conversions for a name of 60,000 campaigns': (context) =>
    repeat(context, 8, 0, () =>
      request(context, rawGet('/api/v1/conversions/search?q=aa&fields=campaignName', context.accounts.searching)),
    ),
  'reports and clicks with the costliest filters, and filters that are refused': (context) =>
    repeat(context, 8, 0, async () => {
      for (const tree of [...Object.values(costlyTrees), ...refusedTrees]) {
        const filters = `filters=${encodeURIComponent(tree)}`
        await request(context, rawGet(`/api/v1/reports?group_by=sub1&${filters}`, context.accounts.attacking))
        await request(context, rawGet(`/api/v1/clicks?${filters}`, context.accounts.attacking))
      }
    }),
  'calls of tools with nested arrays, long lists and the costliest filters': (context) =>
    repeat(context, 8, 0, async () => {
      const { attacking } = context.accounts
      const given = [...Object.values(costlyTrees), ...refusedTrees].map((filters) => ({ group_by: 'sub1', filters }))
      for (const one of [...given, { country: Array(15_000).fill('a') }, { group_by: 'sub1,sub2', limit: 100 }])
        await request(context, post('/api/v1/mcp', attacking, call('get_reports', JSON.stringify(one))))
      await request(
        context,
        post('/api/v1/mcp', attacking, call('get_reports', `{"filters":${'['.repeat(30_000)}${']'.repeat(30_000)}}`)),
      )
    }),
  'malformed and invented keys': (context) =>
    repeat(context, 4, 20, async () => {
      await request(context, rawGet('/api/v1/clicks', 'trb_live_malformed'))
      await request(context, rawGet('/api/v1/clicks', makeKeyText()))
    }),
  'values of Authorization with 15,900 spaces, 30 pipelined on each of 4 connections': (context) =>
    repeat(context, 4, 1_000, () => burst(context, spacedKey.repeat(30), 1_000)),
  'HTTP/1.0, kept alive and not, 20 requests at once': (context) =>
    repeat(context, 12, 250, async () => {
      const kept = rawGet('/api/v1/docs/json')
        .replace('HTTP/1.1', 'HTTP/1.0')
        .replace('\r\n\r\n', '\r\nConnection: keep-alive\r\n\r\n')
      await burst(context, kept.repeat(20), 200)
      await burst(context, rawGet('/readyz').replace('HTTP/1.1', 'HTTP/1.0').repeat(20), 50)
    }),
  'half-closed connections with and without a whole request': (context) =>
    repeat(context, 24, 250, async () => {
      await burst(context, rawGet('/api/v1/clicks', context.accounts.attacking).repeat(2), 500, { isHalfClosed: true })
      await burst(context, 'POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Le', 200, { isHalfClosed: true })
    }),
  'Expect: 100-continue without the body, and unknown expectations': (context) =>
    repeat(context, 24, 250, async () => {
      await burst(context, event(context, 'Expect: 100-continue\r\nContent-Length: 60000\r\n'), 500)
      await burst(context, event(context, 'Expect: the impossible\r\nContent-Length: 2\r\n').repeat(20), 50)
    }),
  'dry runs of batches with 7,000 unknown fields in each of 64 events': (context) =>
    repeat(context, 2, 1_000, () =>
      request(context, post('/api/v1/events/batch?dry_run=true', context.accounts.regular, unknownFields)),
    ),
  ...Object.fromEntries(
    Object.entries(costlyBatches).map(([name, body]): [string, Attack] => [
      `batches of 4 MB with ${name}, 24 connections`,
      (context) => {
        // Encoded once: the regular clients are in this process too.
        const bytes = Buffer.from(closing(post('/api/v1/events/batch', context.accounts.attacking, body)))
        return repeat(context, 24, 0, () => request(context, bytes))
      },
    ]),
  ),
  'a feed of 10,000 clicks/s of 20 accounts': (context) =>
    // A request has its response when its rows are stored.
    repeat(context, 60, 3_000, () =>
      request(
        toFeed(context),
        rowsRequest((number) => ({ accountId: `fed-${number % fedAccounts}`, id: `click-${number}` })),
      ),
    ),
  'rows of 100,000 unknown accounts to a feed': (context) =>
    repeat(context, 2, 100, () =>
      request(
        toFeed(context),
        rowsRequest((number) => ({ accountId: `unknown-${number % 100_000}`, id: 'click' })),
      ),
    ),
  'rows to a feed with a wrong token, from slow senders, and from senders that disconnect before the result': (
    context,
  ) =>
    repeat(context, 12, 250, async () => {
      const rows = rowsRequest((number) => ({ accountId: 'fed-0', id: `click-${number}` }))
      await request(toFeed(context), rows.replace(feedToken, 'wrong'))
      await burst(toFeed(context), rows.slice(0, 2_000), 200)
      await burst(toFeed(context), rows, 20)
    }),
  'bodies on GET: whole, broken off, chunked without an end': (context) =>
    repeat(context, 12, 250, async () => {
      const withBody = (header: string, body: string) =>
        `${rawGet('/api/v1/clicks?limit=1', context.accounts.attacking).slice(0, -2)}${header}\r\n\r\n${body}`
      const body = 'x'.repeat(50_000)
      await request(context, withBody('Content-Length: 50000', body))
      await burst(context, withBody('Content-Length: 50000', 'x').repeat(3), 100)
      await burst(context, withBody('Transfer-Encoding: chunked', `c350\r\n${body}\r\n`), 100)
    }),
}

function toFeed(context: AttackContext): AttackContext {
  return { ...context, port: context.feedPort }
}

/** @returns a request with clicks of this moment, each with another number */
function rowsRequest(idsOf: (number: number) => { accountId: string; id: string }): string {
  const clickedAt = new Date().toISOString()
  const rows = Array.from({ length: rowsPerRequest }, () => {
    rowNumber += 1
    return `${JSON.stringify({ ...idsOf(rowNumber), resource: 'clicks', clickedAt })}\n`
  })
  const body = rows.join('')
  return `POST /rows HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${feedToken}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

/** Starts two exports for each stalling account and does not read them; the signal closes their connections. */
export function stallExports({ port, accounts, signal }: AttackContext): void {
  for (const key of accounts.stalling) {
    for (let count = 0; count < 2; count++) open(port, rawGet('/api/v1/clicks?format=ndjson', key), signal)
  }
}

function post(path: string, key: string, body: string): string {
  const length = Buffer.byteLength(body)
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
}

function event({ accounts }: AttackContext, headers: string): string {
  return `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${accounts.attacking}\r\nContent-Type: application/json\r\n${headers}\r\n{}`
}

/** @returns the same request, after which the server closes the connection */
function closing(bytes: string): string {
  return bytes.replace('Host: x\r\n', 'Host: x\r\nConnection: close\r\n')
}

async function repeat(
  { signal }: AttackContext,
  concurrency: number,
  everyMs: number,
  attempt: () => Promise<void>,
): Promise<void> {
  const loop = async () => {
    while (!signal.aborted) await Promise.all([attempt(), sleep(everyMs)])
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
}

/** Sends bytes, reads nothing beyond the socket buffer, and disconnects after `forMs` unless the server does first. */
async function burst(
  { port, signal }: AttackContext,
  bytes: string,
  forMs: number,
  { isHalfClosed = false } = {},
): Promise<void> {
  const socket = open(port, bytes, signal)
  if (isHalfClosed) socket.end()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await Promise.race([closed, sleep(forMs)])
  socket.destroy()
}

/** Sends a request and reads until the server closes the connection or 10 s have passed. */
async function request(context: AttackContext, bytes: string | Buffer): Promise<void> {
  const socket = open(context.port, typeof bytes === 'string' ? closing(bytes) : bytes, context.signal)
  socket.resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await Promise.race([closed, sleep(10_000, undefined, { ref: false })])
  socket.destroy()
}

function open(port: number, bytes: string | Buffer, signal: AbortSignal): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const end = () => socket.destroy()
  socket.on('error', () => {})
  socket.once('close', () => signal.removeEventListener('abort', end))
  if (signal.aborted) end()
  else {
    signal.addEventListener('abort', end)
    socket.write(bytes)
  }
  return socket
}
