import { execFileSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stores } from '../../src/stores/open.ts'

/** What a server holds; each is a count that must come back to where it was. */
export interface Held {
  fileDescriptors: number
  clickhouseQueries: number
  postgresSessions: number
}

/**
 * Counts what a server holds right now.
 * @param postgresPid the embedded engine, whose sessions are its connections; undefined where Postgres is a server
 */
export async function heldBy(serverPid: number, stores: Stores, postgresPid: number | undefined): Promise<Held> {
  return {
    fileDescriptors: (await readdir(`/proc/${serverPid}/fd`)).length,
    clickhouseQueries: await clickhouseQueries(stores),
    postgresSessions: postgresPid ? (await readdir(`/proc/${postgresPid}/fd`)).length : await sessions(stores),
  }
}

/**
 * Counts the queries of the API that run now; ours have no label.
 * @param olderThanS seconds that a query has been running for at least
 */
export async function clickhouseQueries({ clickhouse }: Stores, olderThanS = 0): Promise<number> {
  const answer = await clickhouse.client.query({
    query: `SELECT count() AS queries FROM system.processes
      WHERE Settings['log_comment'] != '' AND elapsed >= {olderThanS:Float64}`,
    query_params: { olderThanS },
    format: 'JSONEachRow',
  })
  const [row] = await answer.json<{ queries: string }>()
  return Number(row?.queries)
}

async function sessions({ postgres }: Stores): Promise<number> {
  const [row] = await postgres<{ sessions: number }[]>`
    SELECT count(*)::int AS sessions FROM pg_stat_activity WHERE datname = current_database()`
  return row?.sessions ?? 0
}

/** Counts what is held once it no longer changes: connections that were closed a moment ago still go. */
export async function whenSteady(count: () => Promise<Held>): Promise<Held> {
  for (let last = await count(); ; ) {
    await sleep(3_000)
    const held = await count()
    if (held.fileDescriptors === last.fileDescriptors) return held
    last = held
  }
}

/** Waits until nothing more is held than before, up to a deadline. @returns what is held at the end */
export async function untilBack(before: Held, count: () => Promise<Held>, deadlineMs: number): Promise<Held> {
  const endMs = performance.now() + deadlineMs
  for (;;) {
    const held = await count()
    if (grownSince(before, held).length === 0 || performance.now() > endMs) return held
    await sleep(250)
  }
}

/** @returns the names of what is more than before */
export function grownSince(before: Held, after: Held): (keyof Held)[] {
  return (Object.keys(before) as (keyof Held)[]).filter((name) => after[name] > before[name])
}

/** Looks at the memory of a process ten times a second. @returns what stops it and gives the most that was seen, in MB */
export function watchMemory(pid: number): () => number {
  let mostMb = 0
  const look = async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
    mostMb = Math.max(mostMb, Math.round(kilobytes / 1024))
  }
  const timer = setInterval(look, 100)
  return () => {
    clearInterval(timer)
    return mostMb
  }
}

/** @returns the process of the embedded Postgres of a folder; undefined where there is none */
export function embeddedPostgresPid(folder: string): number | undefined {
  const lines = execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8' }).split('\n')
  const line = lines.find((candidate) => candidate.endsWith(`/embedded/postgres/engine.js ${folder}`))
  return line === undefined ? undefined : Number.parseInt(line, 10)
}
