import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { packageRoot } from '../src/package.ts'

/** One way of sending events. */
export interface EventLoad {
  attribution: 'click' | 'visitor'
  /** How many different ones; `new`: each event has one that the server has not seen. */
  identifiers: number | 'new'
  withIds: boolean
}

/** What wrk saw; times in microseconds. */
export interface Seen {
  requests: number
  durationUs: number
  refused: number
  broken: number
  p50Us: number
  p95Us: number
  p99Us: number
  maxUs: number
}

/**
 * Sends events to a server with wrk, as fast as it responds: what bench/events.lua makes.
 * @param connections each of which sends its next event when the last one was answered
 * @param run names this load in ids and properties; `warm up` sends every identifier in turn
 * @throws Error when wrk is not installed or fails
 */
export async function sendEvents(
  url: string,
  { connections, seconds, run, key }: { connections: number; seconds: number; run: string; key: string },
  { attribution, identifiers, withIds }: EventLoad,
): Promise<Seen> {
  const child = spawn(
    'wrk',
    [
      ...['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s'],
      ...['-s', join(packageRoot, 'bench/events.lua'), `${url}/api/v1/events`, '--'],
      ...[key, attribution, `${identifiers}`, withIds ? 'yes' : 'no', run],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  const [code] = await once(child, 'close').catch(() => {
    throw new Error('This bench sends its load with wrk: apt-get install wrk.')
  })
  const line = text.split('\n').find((candidate) => candidate.startsWith('{"requests"'))
  if (code !== 0 || !line) throw new Error(`wrk ended with ${code}: ${text}`)
  return JSON.parse(line) as Seen
}

export function perSecondOf({ requests, durationUs }: Seen): number {
  return requests / (durationUs / 1e6)
}
