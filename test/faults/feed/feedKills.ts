import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { deleteAccount } from '../../../src/cli/accountDelete.ts'
import { type Draws, openDraws } from '../../../src/cli/demoData/draws.ts'
import { recoverAccounts } from '../../../src/writer/serverRecovery.ts'
import { run, runHere } from '../../cli/runCommand.ts'
import { makeKey } from '../../kit/accounts.ts'
import { until } from '../../kit/until.ts'
import { differing } from '../crashes/accountState.ts'
import type { FeedEngines } from './feedEngines.ts'
import { type FeedProcess, type Moment, startFeed } from './feedProcess.ts'
import { compareRows, expectedReports, linesOfReport } from './model.ts'
import { openSender, type Sender } from './sender.ts'
import { type Chunk, erasedVisitors, makeSends, type SendingAccount } from './sends.ts'

/** What happens to a feed, or beside it. */
export type Fault = 'kill' | 'suspension' | 'ClickHouse' | 'Postgres'

const faultShares: Record<Fault, number> = { kill: 5, suspension: 3, ClickHouse: 3, Postgres: 3 }
/** Faults of successive seeds happen at successive statements up to this number: a flush sends fewer. */
const statementsMax = 40
/** The same of statements that change something. */
const changesMax = 24
const finalMaxMs = 180_000
/** A process that was suspended ends within this time after it continues. */
const endMaxMs = 30_000
/** An engine that is killed may be away for this long without loss of the lease. */
const outageMaxMs = 6_000
/** From the start until commands wait for their accounts. */
const commandDelayMs = 4_000

interface Options {
  /** Of the number of rows: 1 is about 500. */
  scale?: number
  /** The fault of each feed before the last feed; by default each seed draws three. */
  faults?: readonly Fault[]
}

/**
 * Sends random rows to feeds, which are killed or suspended, or whose engines are killed, and compares what is stored with the rows.
 * @returns what is wrong, and the moments of the faults
 */
export async function runFeedKills(
  engines: FeedEngines,
  seed: number,
  { scale = 1, faults: chosen }: Options = {},
): Promise<{ faults: string[]; moments: string[] }> {
  const draws = openDraws(`feed faults ${seed}`)
  const rounds = chosen?.length ?? 3
  const name = `s${seed}`
  const { accounts, chunks } = makeSends(name, seed, scale)
  const keys = await createAccounts(engines, accounts)
  const environment = { FEED_REJECTS: `${engines.folder}/${name}.rejects` }
  const sender = openSender(environment.FEED_REJECTS)
  const start = (isStdin: boolean, moment?: Moment) =>
    startFeed(engines, { isStdin, environment, ...(moment && { moment }) })
  const found: string[] = []
  const moments: string[] = []
  const commands = [erase(engines, accounts), remove(engines, accounts)]
  for (const command of commands) command.catch(() => {})

  let last: FeedProcess | undefined
  try {
    for (let round = 0; round < rounds; round += 1) {
      const fault = chosen?.[round] ?? draws.pickShared(faultShares)
      const isChange = draws.chance(0.7)
      const number = 1 + ((seed * 7 + round * 11) % (isChange ? changesMax : statementsMax))
      const holds = draws.pick(['request', 'response', 'body'] as const)
      const isStdin = draws.chance(0.5)
      const before = await ownerOf(engines)
      const feed = await start(isStdin, { number, isChange, holds })
      const share = chunks.slice(0, Math.ceil((chunks.length * (round + 1)) / (rounds + 0.5)))
      sender.moveTo(feed, share)
      feed.arm()
      const injection = { feed, sender, engines, chunks: share, startNext: () => start(isStdin) }
      const moment = await reach(injection, draws, before)
      const described = `${fault}${isStdin ? ', stdin' : ''}, ${moment}`
      found.push(...(await injectFault(fault, moment, injection)).map((line) => `${described}: ${line}`))
      moments.push(described)
    }
    last = await start(false)
    sender.moveTo(last, chunks)
    await until(() => sender.isActive(), finalMaxMs).catch(() => found.push('The last feed takes no rows.'))
    await until(() => sender.isDone(chunks) || last?.ending !== null, finalMaxMs).catch(() => {})
    if (!sender.isDone(chunks)) {
      const open = chunks.filter((chunk) => !sender.done.has(chunk)).flatMap(({ rows }) => rows)
      found.push(`${open.length} rows have no final result, such as ${open[0]?.text}; ${last.ending} ${last.log()}`)
    }
    found.push(...(await Promise.all(commands)).flat())
    const code = await last.end('SIGTERM')
    if (code !== 0) found.push(`The last feed exited with ${code}: ${last.log()}`)
  } finally {
    last?.child.kill('SIGKILL')
    found.push(...(await sender.close()))
  }
  found.push(...(await complete(engines, accounts)))
  for (const account of accounts) found.push(...(await compare(engines, account, keys.get(account.id) ?? '')))
  return { faults: found, moments }
}

/** Completes, as a server does, what killed feeds have left of accounts without further rows. @returns what is wrong */
export async function complete({ stores }: FeedEngines, accounts: readonly SendingAccount[]): Promise<string[]> {
  const found: string[] = []
  const print = (line: string) => void (/failed/.test(line) && found.push(line))
  await recoverAccounts(stores, { info: print, warn: print }, new AbortController().signal)
  const batches = await stores.postgres`
    SELECT FROM import_batches WHERE account_id = ANY(${accounts.map(({ id }) => id)}::text[])`
  if (batches.length > 0) found.push(`${batches.length} batches are left in the journal`)
  return found
}

/** The rows of a feed without a fault had no result for long. */
const unfinished = 'rows without a result'

interface Injection {
  feed: FeedProcess
  sender: Sender
  engines: FeedEngines
  chunks: readonly Chunk[]
  startNext(): Promise<FeedProcess>
}

/** Waits for the moment of a feed, or until it has stored everything. @param before owner of the lease of feeds @returns a description */
async function reach(
  { feed, sender, engines, chunks }: Injection,
  draws: Draws,
  before: string | undefined,
): Promise<string> {
  const isOver = { held: false }
  const over = until(() => isOver.held || sender.isDone(chunks) || feed.ending !== null, finalMaxMs)
  const moment = await Promise.race([
    feed.held,
    over.then(
      () => 'idle',
      () => unfinished,
    ),
  ])
  isOver.held = true
  if (moment !== 'idle') return moment
  // Earlier feeds may have stored everything: a feed that starts ends when Postgres is killed.
  await until(async () => feed.ending !== null || (await hasOtherOwner(engines, before)), finalMaxMs)
  // Other moments than those between statements.
  await sleep(draws.between(0, 300))
  return moment
}

/** @returns what is wrong. No feed runs afterwards */
async function injectFault(fault: Fault, moment: string, injection: Injection): Promise<string[]> {
  const { feed, sender, engines, chunks } = injection
  const found: string[] = []
  if (feed.ending !== null) found.push(`The feed exited with ${feed.ending}: ${feed.log()}`)
  if (moment === unfinished) found.push(feed.log())
  if (fault === 'suspension') found.push(...(await suspend(injection)))
  else if (fault !== 'kill') {
    const engine = { ClickHouse: engines.nodes[0], Postgres: engines.postgres }[fault]
    const startedMs = performance.now()
    await engine.kill()
    await engine.start()
    const outageMs = performance.now() - startedMs
    feed.release()
    // It continues, unless the outage was as long as its lease.
    await until(() => sender.isDone(chunks) || feed.ending !== null, finalMaxMs).catch(() => {})
    if (feed.ending !== null && outageMs < outageMaxMs)
      found.push(`The feed exited with ${feed.ending} after ${outageMs} ms without ${fault}: ${feed.log()}`)
  }
  sender.moveTo(undefined)
  await feed.end('SIGKILL')
  return found
}

/** @returns the owner of the lease of feeds; undefined: it was released */
async function ownerOf({ stores }: FeedEngines): Promise<string | undefined> {
  const [lease] = await stores.postgres`SELECT owner FROM leases WHERE name = 'feed' AND owner <> ''`
  return lease?.owner
}

async function hasOtherOwner(engines: FeedEngines, before: string | undefined): Promise<boolean> {
  const owner = await ownerOf(engines)
  return owner !== undefined && owner !== before
}

/**
 * Suspends a feed until another one has stored its rows; then it continues, and must end without writing. A feed that was suspended
 * before it had the lease waits for the lease.
 */
async function suspend({ feed, sender, engines, chunks, startNext }: Injection): Promise<string[]> {
  const found: string[] = []
  const before = await ownerOf(engines)
  feed.child.kill('SIGSTOP')
  const next = await startNext()
  sender.moveTo(next)
  // Rows may have their results already.
  await until(() => hasOtherOwner(engines, before), finalMaxMs)
  await until(() => sender.isDone(chunks) || next.ending !== null, finalMaxMs).catch(() =>
    found.push(`The next feed did not store all rows: ${next.log()}`),
  )
  feed.release()
  const linesBefore = feed.log().length
  feed.child.kill('SIGCONT')
  const isWaiting = () => feed.log().includes('Another feed is active', linesBefore)
  await until(() => feed.ending !== null || isWaiting(), endMaxMs).catch(() => {})
  if (isWaiting()) await feed.end('SIGKILL')
  else if (feed.ending === null) found.push(`The suspended feed did not end: ${feed.log()}`)
  else if (feed.ending === 0 || /\n +at /.test(feed.log()))
    found.push(`The suspended feed exited with ${feed.ending}: ${feed.log()}`)
  sender.moveTo(undefined)
  const code = await next.end('SIGTERM')
  if (code !== 0) found.push(`The feed after a suspended one exited with ${code}: ${next.log()}`)
  return found
}

/** Creates the accounts of sends. @returns their keys by account */
export async function createAccounts({ stores, environment }: FeedEngines, accounts: readonly SendingAccount[]) {
  const keys = new Map<string, string>()
  for (const { id, kind } of accounts) {
    await createAccount(stores.postgres, { id, name: id, plan: 'scale', currency: 'USD' })
    keys.set(id, (await makeKey(stores, id)).key)
    if (kind === 'importing') await stores.postgres`UPDATE accounts SET import_of = ${'0'.repeat(64)} WHERE id = ${id}`
    if (kind === 'erased') await runHere(['erase', '--account', id, '--visitor', erasedVisitors[0]], environment)
  }
  return keys
}

const attemptsMax = 100

/** Erases a visitor while rows arrive. @returns what is wrong */
export async function erase({ environment }: FeedEngines, accounts: readonly SendingAccount[]): Promise<string[]> {
  const id = accounts.find(({ kind }) => kind === 'erased')?.id ?? ''
  await sleep(commandDelayMs)
  return await untilDone('erase', async () => {
    const { code, stderr } = await run(['erase', '--account', id, '--visitor', erasedVisitors[1]], environment)
    if (code !== 0) throw new Error(stderr)
  })
}

/** Deletes an account while rows arrive, without the wait for servers. @returns what is wrong */
export async function remove({ stores }: FeedEngines, accounts: readonly SendingAccount[]): Promise<string[]> {
  const id = accounts.find(({ kind }) => kind === 'deleted')?.id ?? ''
  await sleep(commandDelayMs)
  const options = { onMessage: () => {}, signal: new AbortController().signal, wait: async () => {} }
  return await untilDone('account delete', () => deleteAccount(stores, id, options))
}

/** Repeats a command until it succeeds: engines are killed meanwhile. @returns what is wrong */
async function untilDone(name: string, command: () => Promise<unknown>): Promise<string[]> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await command()
      return []
    } catch (error) {
      if (attempt === attemptsMax) return [`${name}: ${(error as Error).message}`]
      await sleep(500)
    }
  }
}

const range = 'from=2026-09-01&to=2026-10-31'
/** A click of an erased visitor that arrived after its conversion is erased by the next check of a server. */
const erasedMaxMs = 60_000

/** Compares rows, reports and derived tables of an account, and runs `verify`. @returns what is wrong */
export async function compare(
  engines: Pick<FeedEngines, 'stores' | 'app' | 'environment'>,
  account: SendingAccount,
  key: string,
): Promise<string[]> {
  const { stores, app, environment } = engines
  const { id, kind } = account
  let found = await compareRows(stores, account)
  const deadlineMs = performance.now() + (kind === 'erased' ? erasedMaxMs : 0)
  while (found.length > 0 && performance.now() < deadlineMs) {
    await sleep(1_000)
    found = await compareRows(stores, account)
  }
  if (kind === 'deleted') return found
  if (kind !== 'importing') {
    const expected = expectedReports(account)
    for (const by of ['campaign', 'day'] as const) {
      const response = await app.inject({
        url: `/api/v1/reports?group_by=${by}&${range}`,
        headers: { authorization: `ApiKey ${key}` },
      })
      const rows = response.statusCode === 200 ? response.json().data : []
      if (response.statusCode !== 200) found.push(`${id}, report: ${response.statusCode} ${response.body}`)
      found.push(...differing(`${id}, report by ${by}`, linesOfReport(rows), expected[by]))
    }
  }
  const { code, stdout, stderr } = await runHere(['verify', '--account', id, '--json'], environment)
  // The lease of a killed feed expires later than the lease that makes it the only feed.
  const messages = stderr.replace(/^Another writer is active .*\n/m, '')
  if (code !== 0 || messages !== '') found.push(`verify of ${id}: ${code} ${stdout} ${stderr}`)
  return found
}
