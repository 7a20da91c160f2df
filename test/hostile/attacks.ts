import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeKeyText } from '../../src/accounts/keyFormat.ts'
import type { Accounts } from './accounts.ts'

/** What an attack is sent to, and for how long. */
export interface Battle {
  port: number
  accounts: Accounts
  /** Aborts at the end; every connection of an attack is closed then. */
  signal: AbortSignal
}

/** Sends hostile requests until the signal aborts. */
export type Attack = (battle: Battle) => Promise<void>

const staticFile = '/api/v1/docs/static/swagger-ui-bundle.js'
const slowSearch = `${'a'.repeat(99)}b`

/**
 * By what they do; each goes on for a while beside regular clients. They are paced: what is tried is whether few requests
 * of a kind harm others, not how many plain requests a process can answer.
 */
export const attacks: Record<string, Attack> = {
  '1,500 pipelined documents on each of 12 connections': (battle) =>
    repeat(battle, 12, 1_000, () => burst(battle, get('/api/v1/docs/json').repeat(1_500), 1_000)),
  '300 pipelined static files on a connection, then close': (battle) =>
    repeat(battle, 4, 250, () => burst(battle, get(staticFile).repeat(300), 20)),
  '30 pipelined static files that are not read, 15 connections': (battle) =>
    repeat(battle, 15, 1_000, () => burst(battle, get(staticFile).repeat(30), 1_000)),
  '12 pipelined reads of one account, closed after 20 ms': (battle) =>
    repeat(battle, 4, 250, () =>
      burst(battle, get('/api/v1/clicks?limit=1', battle.accounts.attacking).repeat(12), 20),
    ),
  'searches of 60,000 campaigns for 99 letters and another': (battle) =>
    repeat(battle, 8, 0, () =>
      request(battle, get(`/api/v1/campaigns/search?q=${slowSearch}`, battle.accounts.searching)),
    ),
  'searches of 60,000 campaigns for two letters': (battle) =>
    repeat(battle, 8, 0, () =>
      request(battle, get('/api/v1/campaigns/search?q=%C3%A9%C3%A9', battle.accounts.searching)),
    ),
  'searches of conversions for a name of 60,000 campaigns': (battle) =>
    repeat(battle, 8, 0, () =>
      request(battle, get('/api/v1/conversions/search?q=aa&fields=campaignName', battle.accounts.searching)),
    ),
  'malformed and invented keys': (battle) =>
    repeat(battle, 4, 20, async () => {
      await request(battle, get('/api/v1/clicks', 'trb_live_malformed'))
      await request(battle, get('/api/v1/clicks', makeKeyText()))
    }),
  'HTTP/1.0, kept alive and not, 20 requests at once': (battle) =>
    repeat(battle, 12, 250, async () => {
      const kept = get('/api/v1/docs/json')
        .replace('HTTP/1.1', 'HTTP/1.0')
        .replace('\r\n\r\n', '\r\nConnection: keep-alive\r\n\r\n')
      await burst(battle, kept.repeat(20), 200)
      await burst(battle, get('/readyz').replace('HTTP/1.1', 'HTTP/1.0').repeat(20), 50)
    }),
  'half-closed connections with and without a whole request': (battle) =>
    repeat(battle, 24, 250, async () => {
      await burst(battle, get('/api/v1/clicks', battle.accounts.attacking).repeat(2), 500, { isHalfClosed: true })
      await burst(battle, 'POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Le', 200, { isHalfClosed: true })
    }),
  'Expect: 100-continue without the body, and unknown expectations': (battle) =>
    repeat(battle, 24, 250, async () => {
      await burst(battle, event(battle, 'Expect: 100-continue\r\nContent-Length: 60000\r\n'), 500)
      await burst(battle, event(battle, 'Expect: the impossible\r\nContent-Length: 2\r\n').repeat(20), 50)
    }),
  'bodies on GET: whole, broken off, chunked without an end': (battle) =>
    repeat(battle, 12, 250, async () => {
      const withBody = (header: string, body: string) =>
        `${get('/api/v1/clicks?limit=1', battle.accounts.attacking).slice(0, -2)}${header}\r\n\r\n${body}`
      const body = 'x'.repeat(50_000)
      await request(battle, withBody('Content-Length: 50000', body))
      await burst(battle, withBody('Content-Length: 50000', 'x').repeat(3), 100)
      await burst(battle, withBody('Transfer-Encoding: chunked', `c350\r\n${body}\r\n`), 100)
    }),
}

/** Begins two exports for each stalling account and reads none of them, until the signal aborts. */
export function stallExports({ port, accounts, signal }: Battle): void {
  for (const key of accounts.stalling) {
    for (let count = 0; count < 2; count++) open(port, get('/api/v1/clicks?format=ndjson', key), signal)
  }
}

/** @returns a GET as it goes over the wire */
function get(path: string, key?: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n${key === undefined ? '' : `Authorization: ApiKey ${key}\r\n`}\r\n`
}

function event({ accounts }: Battle, headers: string): string {
  return `POST /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey ${accounts.attacking}\r\nContent-Type: application/json\r\n${headers}\r\n{}`
}

/** Attempts again and again, so many at a time, until the end. @param everyMs from the start of one to that of the next */
async function repeat(
  { signal }: Battle,
  together: number,
  everyMs: number,
  attempt: () => Promise<void>,
): Promise<void> {
  const one = async () => {
    while (!signal.aborted) await Promise.all([attempt(), sleep(everyMs)])
  }
  await Promise.all(Array.from({ length: together }, one))
}

/** Sends bytes, reads next to nothing, and disconnects after a while unless the server does first. */
async function burst(
  { port, signal }: Battle,
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

/** Sends a request and reads its response, and whatever else comes, until it has ended or 10 s have passed. */
async function request(battle: Battle, bytes: string): Promise<void> {
  const socket = open(battle.port, bytes.replace('Host: x\r\n', 'Host: x\r\nConnection: close\r\n'), battle.signal)
  socket.resume()
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await Promise.race([closed, sleep(10_000, undefined, { ref: false })])
  socket.destroy()
}

/** Connects and writes; what comes back is not read. */
function open(port: number, bytes: string, signal: AbortSignal): Socket {
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
