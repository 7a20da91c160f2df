import { once } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import { text as readText } from 'node:stream/consumers'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { urlToHttpOptions } from 'node:url'
import { type ClickHouseSettings, parseError } from '@clickhouse/client'
import { withDeadline } from '../timing/deadline.ts'
import { untilException } from './exceptionTail.ts'
import { formOf } from './form.ts'
import type { Statement } from './sql.ts'

export interface ReadRequest {
  statement: Statement
  settings: ClickHouseSettings
  /** Ends the query, which first has `endingMs` to end by itself; closes the connection in the middle of the response. */
  signal?: AbortSignal | undefined
}

/**
 * Sends a SELECT. It is sent once more if a connection that was kept open has been closed meanwhile.
 * @returns the response; the caller reads its body, which may fail in the middle
 * @throws ClickHouseError, an error with the code of the socket, or the signal's reason
 */
export type Read = (read: ReadRequest) => Promise<http.IncomingMessage>

/** After so long without a response the server is asked whether it runs, repeatedly: a long query responds at its end. */
const silenceMs = 2_000
const pingTimeoutMs = 3_000
const pingPauseMs = 200

/**
 * Time for an aborted query to end by itself, as most do. The read then lasts as long as its query, so that clients that disconnect at
 * once do not start more queries than they have slots, and its connection stays open.
 */
const endingMs = 250

const unresponsive = () => Object.assign(new Error('ClickHouse does not respond.'), { code: 'ETIMEDOUT' })

type Address = Record<'url' | 'username' | 'password' | 'database', string> & { socketPath?: string }

/**
 * Sends reads without the driver, which waits for a timer before each statement and counts the bytes of each response.
 * @param idleTimeoutMs longest pause of the server
 * @param defaults settings of every statement
 */
export function openReads(
  { url, socketPath, username, password, database }: Address,
  agent: http.Agent,
  idleTimeoutMs: number,
  defaults: ClickHouseSettings,
): Read {
  const { protocol, hostname, port } = urlToHttpOptions(new URL(url))
  const { request } = protocol === 'https:' ? https : http
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  let pinging: Promise<boolean> | undefined

  return (read) => send(read, true)

  /** @returns whether the server responds to a request on a connection of its own, within several attempts; concurrent reads share it */
  function isAlive(): Promise<boolean> {
    const pingOnce = async (signal: AbortSignal) => {
      const sent = request({ hostname, port, socketPath, path: '/ping', agent: false, signal }).end()
      const [received] = await once(sent, 'response')
      received.resume()
    }
    // One failure may be of this connection alone: a reset, or a process without free file descriptors.
    const ping = (signal: AbortSignal): Promise<unknown> =>
      pingOnce(signal).catch(() => sleep(pingPauseMs, undefined, { signal }).then(() => ping(signal)))
    pinging ??= withDeadline(pingTimeoutMs, unresponsive, ping)
      .then(() => true)
      .catch(() => false)
      .finally(() => (pinging = undefined))
    return pinging
  }

  function send(read: ReadRequest, mayRepeat: boolean): Promise<http.IncomingMessage> {
    const { statement, settings, signal } = read
    const form = formOf(statement)
    const parameters: Record<string, unknown> = { database, ...defaults, ...settings }
    const path = `/?${new URLSearchParams(parameters as Record<string, string>)}`
    const headers = { authorization, ...form.headers }
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted()
      let response: http.IncomingMessage | undefined
      let isStopped = false
      const sent = request({ hostname, port, path, agent, headers, method: 'POST', timeout: idleTimeoutMs })
      const stop = (error: Error) => {
        // TRAP: a request that waits for a connection emits an error only when it gets one: perhaps a reset.
        reject(error)
        isStopped = true
        const open = response ?? sent
        open.destroy(error)
      }
      let ending: NodeJS.Timeout | undefined
      const abort = () => {
        if (response || !sent.socket) stop(signal?.reason)
        else ending = setTimeout(stop, endingMs, signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      const silence = setTimeout(async () => {
        const isRunning = await isAlive()
        if (response || sent.destroyed) return
        if (isRunning) silence.refresh()
        else stop(unresponsive())
      }, silenceMs)
      sent.on('close', () => {
        clearTimeout(silence)
        clearTimeout(ending)
        signal?.removeEventListener('abort', abort)
      })
      sent.on('timeout', () => {
        if (!response?.complete) stop(unresponsive())
      })
      sent.on('error', (error) => {
        const isStale = mayRepeat && !isStopped && !response && sent.reusedSocket && isReset(error)
        if (isStale) resolve(send(read, false))
        else reject(error)
      })
      sent.on('response', (received) => {
        response = received
        clearTimeout(silence)
        const hasFailed = received.statusCode !== 200 || received.headers['x-clickhouse-exception-code'] !== undefined
        if (ending) received.resume().once('close', () => reject(signal?.reason))
        else if (hasFailed) readText(received).then((text) => reject(parseError(text.trim())), reject)
        else resolve(received)
      })
      for (const part of form.parts) sent.write(part)
      sent.end(form.last)
    })
  }
}

/** Bytes of rows that are parsed in one turn of the event loop. */
const parsedBytes = 262_144

/**
 * Reads a result in a format with one JSON object per line, in parts.
 * @param bytesMax the rest of a larger result is not read
 * @throws ClickHouseError when the statement failed in the middle of the response
 */
export async function readJsonRows<Row>(response: http.IncomingMessage, bytesMax = Number.POSITIVE_INFINITY) {
  const rows: Row[] = []
  const parse = (lines: Buffer) => {
    for (const row of JSON.parse(`[${lines.toString().trimEnd().replaceAll('\n', ',')}]`)) rows.push(row)
  }
  let bytes = 0
  let held: Buffer[] = []
  let heldBytes = 0
  for await (const chunk of untilException(response, response)) {
    held.push(chunk)
    bytes += chunk.length
    heldBytes += chunk.length
    if (heldBytes < parsedBytes) continue
    const lines = Buffer.concat(held)
    const end = lines.lastIndexOf('\n') + 1
    parse(lines.subarray(0, end))
    // TRAP: Node.js passes many received chunks on in one turn.
    await nextTurn()
    if (bytes > bytesMax && rows.length > 0) return { rows, isCut: true }
    held = [lines.subarray(end)]
    heldBytes = lines.length - end
  }
  parse(Buffer.concat(held))
  return { rows, isCut: false }
}

/** The server closed the connection before it read the request. */
const isReset = (error: NodeJS.ErrnoException): boolean => error.code === 'ECONNRESET' || error.code === 'EPIPE'
