import { readFile } from 'node:fs/promises'
import { Redis as Client } from 'ioredis'
import { holds } from '../../kit/until.ts'
import type { FeedEngines } from './feedEngines.ts'
import { type FeedProcess, feedToken } from './feedProcess.ts'
import type { Chunk, Final, SentRow } from './sends.ts'

const group = 'tributary'
const pauseMs = 100

interface Result {
  result: Final | 'retry'
  reason?: string
}

export type Sender = ReturnType<typeof openSender>

/**
 * Sends chunks, by HTTP, to a stream or to standard input, again and again until each of their rows has a final result.
 * @param stream name of the stream
 * @param isStreamed whether a chunk is sent to the stream
 */
export function openSender(
  { redis: { url }, folder }: Pick<FeedEngines, 'redis' | 'folder'>,
  stream: string,
  isStreamed: (chunk: Chunk) => boolean,
) {
  const faults: string[] = []
  const done = new Set<Chunk>()
  /** Entries of chunks in the stream, by id. */
  const entries = new Map<Chunk, string>()
  /** Rows whose result a sender saw, or that a feed must have rejected: they are named. */
  const named: { row: SentRow; isStreamed: boolean }[] = []
  const inserted = new Set<string>()
  const redis = new Client(url, { maxRetriesPerRequest: null, retryStrategy: () => 50 })
  redis.on('error', () => {})
  const rejectsFile = `${folder}/${stream}.rejects`

  /** Chunks that the present feed is getting. */
  let busy = new Set<Chunk>()
  let feed: FeedProcess | undefined
  let isEnded = false
  /** Lines of standard input after which a chunk ends. */
  let written: { chunk: Chunk; last: number }[] = []

  function finish(chunk: Chunk, isInStream: boolean): void {
    if (done.has(chunk)) return
    done.add(chunk)
    for (const row of chunk.rows) {
      if (row.finals.every((final) => final === 'conflict' || final === 'rejected'))
        named.push({ row, isStreamed: isInStream })
    }
  }

  function check(row: SentRow, { result, reason = '' }: Result): void {
    const { text, finals, key, reason: expected } = row
    if (result === 'retry') return
    if (result === 'conflict' || result === 'rejected') named.push({ row, isStreamed: false })
    if (!finals.includes(result)) faults.push(`${result} ${reason} instead of ${finals}: ${text}`)
    if (expected && !expected.test(reason)) faults.push(`the reason ${reason} of ${text}`)
    if (result === 'inserted' && inserted.has(key)) faults.push(`inserted twice: ${text}`)
    if (result === 'inserted') inserted.add(key)
  }

  async function request(body: string, port: number): Promise<Response> {
    return await fetch(`http://127.0.0.1:${port}/rows`, {
      method: 'POST',
      headers: { authorization: `Bearer ${feedToken}`, 'content-type': 'application/x-ndjson' },
      body,
    })
  }

  async function post(chunk: Chunk, port: number): Promise<void> {
    let response: Response
    let body: string
    try {
      response = await request(textOf(chunk), port)
      body = await response.text()
    } catch {
      return
    }
    const isResults = response.headers.get('content-type')?.startsWith('application/x-ndjson')
    if (!isResults) {
      if (response.status !== 503) faults.push(`HTTP ${response.status}: ${body}`)
      if (!response.headers.get('retry-after')) faults.push(`HTTP ${response.status} has no Retry-After`)
      return
    }
    const results = body
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Result)
    if (results.length !== chunk.rows.length) faults.push(`${results.length} results of ${chunk.rows.length} rows`)
    for (const [index, row] of chunk.rows.entries()) check(row, results[index] ?? { result: 'retry' })
    const isFinal = results.every(({ result }) => result !== 'retry')
    if (isFinal !== (response.status === 200)) faults.push(`HTTP ${response.status} with ${body}`)
    if (isFinal) finish(chunk, false)
  }

  async function send(chunk: Chunk, target: FeedProcess): Promise<void> {
    const present = busy
    present.add(chunk)
    if (entries.has(chunk)) return
    if (target.port === 0) {
      const last = (written.at(-1)?.last ?? 0) + chunk.rows.length
      written.push({ chunk, last })
      target.child.stdin.write(textOf(chunk))
      return
    }
    if (chunk.isForStream && isStreamed(chunk)) {
      const id = await redis.xadd(stream, '*', 'rows', textOf(chunk))
      if (id !== null) entries.set(chunk, id)
      return
    }
    await post(chunk, target.port)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    present.delete(chunk)
  }

  /** Chunks whose earlier ones have their results, or are before them in the stream. */
  function isReady(chunk: Chunk): boolean {
    if (done.has(chunk) || busy.has(chunk)) return false
    const isOfStream = chunk.isForStream && isStreamed(chunk) && feed?.port !== 0
    return [...chunk.after].every((earlier) => done.has(earlier) || (isOfStream && entries.has(earlier)))
  }

  /** Whether the present feed gives no further result: a feed of standard input reads no stream. */
  function isSettled(chunk: Chunk): boolean {
    if (done.has(chunk)) return true
    return (
      feed?.port === 0 &&
      (entries.has(chunk) || [...chunk.after].some((earlier) => !done.has(earlier) && isSettled(earlier)))
    )
  }

  function readProgress({ lines }: FeedProcess): void {
    const { stored = 0, rejected = 0 } = JSON.parse(lines.at(-1) ?? '{}') as Record<string, number>
    const covered = written.filter(({ last }) => last <= stored)
    for (const { chunk } of covered) finish(chunk, false)
    // A row whose account another writer has for long is rejected too.
    const rows = covered.flatMap(({ chunk }) => chunk.rows)
    const least = rows.filter(({ finals }) => finals.length === 1 && finals[0] === 'rejected').length
    if (stored === covered.at(-1)?.last && rejected < least) faults.push(`${rejected} of ${least} rows are rejected`)
  }

  async function readStream(): Promise<void> {
    const open = [...entries].filter(([chunk]) => !done.has(chunk))
    if (open.length === 0) return
    await holds(async () => {
      const [info] = (await redis.xinfo('GROUPS', stream)) as unknown[][]
      // The feed has not created its group yet, and may do so before the next command.
      if (!info) return
      const delivered = `${info[info.indexOf('last-delivered-id') + 1]}`
      const pending = (await redis.xpending(stream, group, '-', '+', 1_000)) as [string, ...unknown[]][]
      const ids = new Set(pending.map(([id]) => id))
      for (const [chunk, id] of open) if (!isAfter(id, delivered) && !ids.has(id)) finish(chunk, true)
    })
  }

  const pump = async () => {
    while (!isEnded) {
      await readStream()
      if (feed) {
        if (feed.port === 0) readProgress(feed)
        for (const chunk of allowed) if (isReady(chunk)) void send(chunk, feed)
      }
      await new Promise((resolve) => setTimeout(resolve, pauseMs / 2))
    }
  }
  let allowed: readonly Chunk[] = []
  const pumping = pump()

  return {
    faults,
    rejectsFile,
    done,
    /** Sends chunks to a feed from now on; undefined: to none. Responses of an earlier feed still count. */
    moveTo(target: FeedProcess | undefined, chunks: readonly Chunk[] = allowed): void {
      if (feed?.port === 0) readProgress(feed)
      feed = target
      busy = new Set()
      written = []
      allowed = chunks
    },
    /** Whether the feed of the chunks takes rows: it may wait for the end of another feed. */
    async isActive(): Promise<boolean> {
      const response = await request('', feed?.port ?? 0).catch(() => undefined)
      return response?.status === 200
    },
    /** Whether the present feed has given each result that it can give. */
    isDone: (chunks: readonly Chunk[]) => chunks.every(isSettled),
    /** Ends it. @returns faults: also rows that are rejected or in conflict and were not named */
    async close(): Promise<string[]> {
      isEnded = true
      await pumping
      const file = await readFile(rejectsFile, 'utf8').catch(() => '')
      const inFile = new Set(
        file.split('\n').flatMap((line) => (line ? [(JSON.parse(line) as { row: string }).row] : [])),
      )
      const streamed = (await redis.xrange(`${stream}:rejected`, '-', '+')) as [string, string[]][]
      const inStream = new Set(streamed.map(([, fields]) => fields[fields.indexOf('row') + 1]))
      redis.disconnect()
      for (const { row, isStreamed: isInStream } of named) {
        if (!(isInStream ? inStream : inFile).has(row.text)) faults.push(`not named: ${row.text}`)
      }
      return faults
    },
  }
}

function textOf({ rows }: Chunk): string {
  return rows.map(({ text }) => `${text}\n`).join('')
}

/** Whether an id of a stream is after another one. */
function isAfter(id: string, other: string): boolean {
  const [ms = 0, sequence = 0] = id.split('-').map(Number)
  const [otherMs = 0, otherSequence = 0] = other.split('-').map(Number)
  return ms > otherMs || (ms === otherMs && sequence > otherSequence)
}
