import { readFile } from 'node:fs/promises'
import { type FeedProcess, feedToken } from './feedProcess.ts'
import type { Chunk, Final, SentRow } from './sends.ts'

const pauseMs = 100

interface Result {
  result: Final | 'retry'
  reason?: string
}

export type Sender = ReturnType<typeof openSender>

/**
 * Sends chunks, by HTTP or to standard input, again and again until each of their rows has a final result.
 * @param rejectsFile `FEED_REJECTS` of the feeds
 */
export function openSender(rejectsFile: string) {
  const faults: string[] = []
  const done = new Set<Chunk>()
  /** Rows whose result a sender saw, or that a feed must have rejected: they are named. */
  const named: SentRow[] = []
  const inserted = new Set<string>()

  /** Chunks that the present feed is getting. */
  let busy = new Set<Chunk>()
  let feed: FeedProcess | undefined
  let isEnded = false
  /** Lines of standard input after which a chunk ends. */
  let written: { chunk: Chunk; last: number }[] = []

  function finish(chunk: Chunk): void {
    if (done.has(chunk)) return
    done.add(chunk)
    for (const row of chunk.rows) {
      if (row.finals.every((final) => final === 'conflict' || final === 'rejected')) named.push(row)
    }
  }

  function check(row: SentRow, { result, reason = '' }: Result): void {
    const { text, finals, key, reason: expected } = row
    if (result === 'retry') return
    if (result === 'conflict' || result === 'rejected') named.push(row)
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
    if (isFinal) finish(chunk)
  }

  async function send(chunk: Chunk, target: FeedProcess): Promise<void> {
    const present = busy
    present.add(chunk)
    if (target.port === 0) {
      const last = (written.at(-1)?.last ?? 0) + chunk.rows.length
      written.push({ chunk, last })
      target.child.stdin.write(textOf(chunk))
      return
    }
    await post(chunk, target.port)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
    present.delete(chunk)
  }

  /** Chunks whose earlier ones have their results. */
  const isReady = (chunk: Chunk): boolean =>
    !done.has(chunk) && !busy.has(chunk) && [...chunk.after].every((earlier) => done.has(earlier))

  function readProgress({ lines }: FeedProcess): void {
    const { line = 0, rejected = 0 } = JSON.parse(lines.at(-1) ?? '{}') as Record<string, number>
    const covered = written.filter(({ last }) => last <= line)
    for (const { chunk } of covered) finish(chunk)
    // A row whose account another writer has for long is rejected too.
    const rows = covered.flatMap(({ chunk }) => chunk.rows)
    const least = rows.filter(({ finals }) => finals.length === 1 && finals[0] === 'rejected').length
    if (line === covered.at(-1)?.last && rejected < least) faults.push(`${rejected} of ${least} rows are rejected`)
  }

  const pump = async () => {
    while (!isEnded) {
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
    isDone: (chunks: readonly Chunk[]) => chunks.every((chunk) => done.has(chunk)),
    /** Ends it. @returns faults: also rows that are rejected or in conflict and were not named */
    async close(): Promise<string[]> {
      isEnded = true
      await pumping
      const file = await readFile(rejectsFile, 'utf8').catch(() => '')
      const inFile = new Set(
        file.split('\n').flatMap((line) => (line ? [(JSON.parse(line) as { row: string }).row] : [])),
      )
      for (const { text } of named) if (!inFile.has(text)) faults.push(`not named: ${text}`)
      return faults
    },
  }
}

function textOf({ rows }: Chunk): string {
  return rows.map(({ text }) => `${text}\n`).join('')
}
