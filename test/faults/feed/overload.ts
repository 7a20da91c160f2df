import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { selectRows } from '../../../src/stores/clickhouse/select.ts'
import { ch } from '../../../src/stores/clickhouse/sql.ts'
import { until } from '../../kit/until.ts'
import type { FeedEngines } from './feedEngines.ts'
import { feedToken, startFeed } from './feedProcess.ts'

const accounts = Array.from({ length: 60 }, (_, n) => `overload-${n}`)
/** A feed that is overloaded must store at least this share of the rows that it stores for patient senders. */
const shareMin = 0.5
/** The feed and both engines run for this part of each second. */
const runningMs = 40
/** After the load ends, the feed takes rows within this time. */
const recoveryMaxMs = 30_000
const repeatMs = 1_000

interface Load {
  /** Rows of a request. */
  rows: number
  /** Senders that send their next request when they have their results, and wait as long as the feed says before they repeat one. */
  patient?: number
  /** Otherwise a request is sent at this interval, whatever became of the ones before, and repeated 1 s after a 503. */
  everyMs?: number
}

/**
 * Sends more rows than a feed can store while it and its engines are suspended for most of each second, and compares what it stores with
 * what it stores for senders that wait. Afterwards the feed must take rows, and each acknowledged row must be stored once.
 * @returns what is wrong, and the rows a second
 */
export async function runOverload(
  engines: FeedEngines,
  seconds = 90,
): Promise<{ faults: string[]; moments: string[] }> {
  const { stores, nodes, postgres } = engines
  for (const id of accounts) await createAccount(stores.postgres, { id, name: id, plan: 'scale', currency: 'EUR' })
  const feed = await startFeed(engines, { environment: { FEED_FLUSH_MS: '2000' } })
  const faults: string[] = []
  const acknowledged = new Set<string>()
  const pids = [feed.child, nodes[0], postgres].map(({ pid = 0 }) => pid)
  await openLoad(feed.port, { rows: 1, patient: 1 }, acknowledged).ended(1)
  const rates: number[] = []
  const moments: string[] = []
  for (const load of [
    { rows: 3_000, patient: 3 },
    { rows: 500, everyMs: 125 },
  ]) {
    const endSuspension = suspend(pids)
    const sending = openLoad(feed.port, load, acknowledged)
    await sleep(1_000 * seconds)
    rates.push(sending.inserted() / seconds)
    sending.end()
    const endedMs = performance.now()
    const later = openLoad(feed.port, { rows: 1, everyMs: 1_000 }, acknowledged)
    await later.ended(1)
    const share = await endSuspension()
    const [takenS, storedS] = [later.takenMs(), performance.now()].map((ms) => Math.round((ms - endedMs) / 1_000))
    if (later.takenMs() - endedMs > recoveryMaxMs) faults.push(`The feed takes rows ${takenS} s after the load.`)
    await sending.ended()
    moments.push(
      `${Math.round(rates.at(-1) ?? 0)} rows/s of ${load.patient ?? 'other'} senders in ${(100 * share).toFixed(1)} % of the time, ` +
        `a row taken ${takenS} s after them is stored after ${storedS} s`,
    )
  }
  const [patient = 0, overloaded = 0] = rates
  if (overloaded < shareMin * patient) faults.push('The feed stores too few rows.')
  if ((await feed.end('SIGTERM')) !== 0) faults.push(`The feed failed: ${feed.log()}`)
  const query = ch`SELECT account_id, id FROM clicks WHERE startsWith(account_id, 'overload-')`
  const rows = await selectRows<{ account_id: string; id: string }>(stores.clickhouse, query, { label: 'test' })
  const stored = new Set(rows.map(({ account_id, id }) => `${account_id} ${id}`))
  if (rows.length > stored.size) faults.push(`${rows.length - stored.size} rows are stored twice.`)
  const lost = [...acknowledged].filter((key) => !stored.has(key)).length
  if (lost > 0) faults.push(`${lost} acknowledged rows are lost.`)
  return { faults, moments }
}

/** Suspends processes for a part of each second, by a process of its own. @returns a function that ends it, and returns the other part */
function suspend(pids: readonly number[]): () => Promise<number> {
  const code = `
    const [runningMs, ...pids] = process.argv.slice(1).map(Number)
    const signal = (name) => pids.forEach((pid) => process.kill(pid, name))
    const startedMs = performance.now()
    let ranMs = 0
    process.on('SIGTERM', () => {
      signal('SIGCONT')
      console.log(ranMs / (performance.now() - startedMs))
      process.exit()
    })
    for (;;) {
      signal('SIGSTOP')
      await new Promise((resolve) => setTimeout(resolve, 1_000 - runningMs))
      const continuedMs = performance.now()
      signal('SIGCONT')
      await new Promise((resolve) => setTimeout(resolve, runningMs))
      ranMs += performance.now() - continuedMs
    }`
  const words = ['--input-type=module', '-e', code, ...[runningMs, ...pids].map(String)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const printed = text(child.stdout)
  return async () => {
    child.kill('SIGTERM')
    return Number(await printed)
  }
}

/** Sends rows of all accounts until it is ended. @param acknowledged gets the rows that are stored */
function openLoad(port: number, { rows: count, patient, everyMs = 0 }: Load, acknowledged: Set<string>) {
  const agent = new Agent({ keepAlive: true })
  const running = new Set<Promise<void>>()
  let isEnded = false
  let inserted = 0
  let responses = 0
  let takenMs = 0
  const send = async () => {
    const clickedAt = new Date().toISOString()
    const rows = Array.from({ length: count }, (_, n) => {
      const accountId = accounts[Math.floor(Math.random() * accounts.length)] ?? ''
      return { accountId, resource: 'clicks', id: randomUUID(), clickedAt, campaignId: `k${n % 7}`, country: 'DE' }
    })
    const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    const headers = { authorization: `Bearer ${feedToken}`, 'content-type': 'application/x-ndjson' }
    do {
      const sentMs = performance.now()
      // A connection may break while its request is refused.
      const sent = request({ port, path: '/rows', agent, method: 'POST', headers }).end(body)
      sent.on('error', () => {})
      const [response] = (await once(sent, 'response').catch(() => [])) as [IncomingMessage?]
      const lines = response ? (await text(response).catch(() => '')).split('\n') : []
      for (const [index, row] of rows.entries()) {
        const { result } = lines.length > count ? JSON.parse(lines[index] ?? '{}') : {}
        if (result === 'inserted') inserted += 1
        if (result === 'inserted' || result === 'duplicate') acknowledged.add(`${row.accountId} ${row.id}`)
      }
      if (response?.statusCode === 200) {
        responses += 1
        takenMs ||= sentMs
        return
      }
      await sleep(patient ? 1_000 * Number(response?.headers['retry-after'] ?? 1) : repeatMs)
    } while (!isEnded)
  }
  const begin = () => {
    const sending = send().finally(() => running.delete(sending))
    running.add(sending)
    return sending
  }
  const run = async () => {
    const repeat = async () => {
      while (!isEnded) await begin()
    }
    if (patient) return await Promise.all(Array.from({ length: patient }, repeat))
    for (; !isEnded; await sleep(everyMs)) void begin()
  }
  const looping = run()
  const load = {
    inserted: () => inserted,
    /** When the first request with results was sent for the last time, by `performance.now()`. */
    takenMs: () => takenMs,
    end(): void {
      isEnded = true
    },
    /** Ends it. @param responses number of requests with results before, without limit of time */
    async ended(least = 0): Promise<void> {
      await until(async () => responses >= least, Number.POSITIVE_INFINITY)
      load.end()
      await looping
      await Promise.all(running)
      agent.destroy()
    },
  }
  return load
}
