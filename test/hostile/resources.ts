import { readdir, readFile, readlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stores } from '../../src/stores/open.ts'
import { rowsOf } from '../import/runImport.ts'

export type Resources = Awaited<ReturnType<typeof countResources>>

/**
 * Counts the resources that a server uses now; each count must return to its value before the attacks.
 * @param postgresPid the embedded engine, with one socket per session; undefined where Postgres is a server
 */
export async function countResources(serverPid: number, stores: Stores, postgresPid: number | undefined) {
  return {
    fileDescriptors: (await readdir(`/proc/${serverPid}/fd`)).length,
    clickhouseQueries: await clickhouseQueries(stores),
    postgresSessions: postgresPid ? await socketsOf(postgresPid) : await sessions(stores),
  }
}

/** Counts the running queries of the API. Queries of this program have no `log_comment`. @param olderThanS minimum running time in seconds */
export async function clickhouseQueries(stores: Stores, olderThanS = 0): Promise<number> {
  const running = `SELECT 1 FROM system.processes WHERE Settings['log_comment'] != '' AND elapsed >= ${olderThanS}`
  return (await rowsOf(stores, running)).length
}

/** Sockets only: the engine opens the files of a table when it is used for the first time. */
async function socketsOf(pid: number): Promise<number> {
  const folder = `/proc/${pid}/fd`
  const targets = await Promise.all(
    (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => '')),
  )
  return targets.filter((target) => target.startsWith('socket:')).length
}

async function sessions({ postgres }: Stores): Promise<number> {
  const [row] = await postgres<{ sessions: number }[]>`
    SELECT count(*)::int AS sessions FROM pg_stat_activity WHERE datname = current_database()`
  return row?.sessions ?? 0
}

/** Waits until the number of file descriptors no longer changes: closed connections disappear with a delay. */
export async function waitUntilSteady(count: () => Promise<Resources>): Promise<Resources> {
  for (let last = await count(); ; ) {
    await sleep(3_000)
    const counts = await count()
    if (counts.fileDescriptors === last.fileDescriptors) return counts
    last = counts
  }
}

/** Waits until no resource count exceeds its earlier value. @returns the last counts, also after the deadline */
export async function waitForRelease(
  before: Resources,
  count: () => Promise<Resources>,
  deadlineMs: number,
): Promise<Resources> {
  const endMs = performance.now() + deadlineMs
  for (;;) {
    const counts = await count()
    if (grownSince(before, counts).length === 0 || performance.now() > endMs) return counts
    await sleep(250)
  }
}

export function grownSince(before: Resources, after: Resources): (keyof Resources)[] {
  return (Object.keys(before) as (keyof Resources)[]).filter((name) => after[name] > before[name])
}

/** Samples the memory of a process ten times per second. @returns a function that stops sampling and returns the peak in MB */
export function watchMemory(pid: number): () => number {
  let maxMb = 0
  const sample = async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    const kilobytes = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
    maxMb = Math.max(maxMb, Math.round(kilobytes / 1024))
  }
  const timer = setInterval(sample, 100)
  return () => {
    clearInterval(timer)
    return maxMb
  }
}
