import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { packageRoot } from '../src/package.ts'

/** A kind of event load. */
export interface EventLoad {
  /** Number of different clicks; `new`: a click of its own for each event, which the server has not cached. */
  identifiers: number | 'new'
  withIds: boolean
  /** Events per request to /events/batch; single events by default. */
  batch?: { events: number; format: 'json' | 'ndjson' }
}

/** The result of wrk; times in microseconds. */
export interface LoadResult {
  requests: number
  durationUs: number
  /** Responses other than 200. */
  rejected: number
  /** Connection errors and timeouts. */
  broken: number
  p50Us: number
  p95Us: number
  p99Us: number
}

/**
 * Sends the events of bench/events.lua to a server with wrk.
 * @param connections each sends its next event after the last response
 * @param run part of ids and properties; `warm up` sends the identifiers in their order
 * @throws Error when wrk is not installed or fails
 */
export async function sendEvents(
  url: string,
  { connections, seconds, run, key }: { connections: number; seconds: number; run: string; key: string },
  { identifiers, withIds, batch }: EventLoad,
): Promise<LoadResult> {
  const script = join(packageRoot, 'bench/events.lua')
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script]
  const given = [key, `${identifiers}`, withIds ? 'yes' : 'no', run, `${batch?.events ?? 0}`, batch?.format ?? 'json']
  const words = [...options, `${url}/api/v1/events${batch ? '/batch' : ''}`, '--', ...given]
  const child = spawn('wrk', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]).catch(() => {
    throw new Error('This bench needs wrk: apt-get install wrk.')
  })
  const line = output.split('\n').find((candidate) => candidate.startsWith('{"requests"'))
  if (code !== 0 || !line) throw new Error(`wrk exited with ${code}: ${output}`)
  return JSON.parse(line) as LoadResult
}

/**
 * Sends events until the server has cached every identifier and compiled its code.
 * @param load refers to a number of identifiers
 * @param seconds duration of the first attempt; each further one takes twice as long
 * @throws Error like `sendEvents`
 */
export async function warmUp(
  url: string,
  { connections, seconds, key }: { connections: number; seconds: number; key: string },
  load: EventLoad & { identifiers: number },
): Promise<void> {
  // Each run starts with the first identifier.
  for (let sent = 0, duration = seconds; sent < load.identifiers; duration *= 2) {
    sent = (await sendEvents(url, { connections, seconds: duration, run: 'warm up', key }, load)).requests
  }
}

export function perSecondOf({ requests, durationUs }: LoadResult): number {
  return requests / (durationUs / 1e6)
}
