import { text } from 'node:stream/consumers'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { type Ended, exitOf, run, runHere, start } from '../../cli/runCommand.ts'
import { forEachConcurrently } from '../../kit/forEachConcurrently.ts'
import { storedRowsOf, storeRetained } from '../../writer/retention/retainedAccount.ts'
import { differing, postgresRowsOf, stateOf } from './accountState.ts'
import { type CrashStores, type Victim, withKill } from './crashStores.ts'
import { type Hold, openStoreProxies } from './storeProxies.ts'
import { type FileCall, runUntilCall } from './syscallKiller.ts'
import type { Verb } from './verbs.ts'

/** What is killed: the process of the command, or a store, which is restarted at once; a number is the number of a node of ClickHouse. */
export type VerbVictim = 'command' | 'postgres' | number

export interface VerbKills {
  /** Differences between an account with a killed command and an account without a kill; empty when there are none. */
  faults: string[]
  killed: number
  trials: number
  moments: number
}

const callsMax = 100
/** Commands that are killed concurrently; an engine is killed during one command at a time. */
const commandsMax = 4
const attemptsMax = 4

/** A moment of a command: before a store receives a statement, or after the store has executed it and before the result arrives. */
interface Moment {
  statement: string
  occurrence: number
  holds: Exclude<Hold['holds'], 'body'>
}

/**
 * Runs a command on one account per kill, kills it before each statement that changes something and after the last one, or a store
 * before and after each such statement that it receives, and runs the command again.
 * @param every 3: only at every third moment, from the first
 */
export async function killAtStatements(
  stores: CrashStores,
  verb: Verb,
  victim: VerbVictim,
  every = 1,
): Promise<VerbKills> {
  return await compareKilled(stores, verb, async (trial) => {
    // A replica takes part in all statements to its shard.
    const node = stores.replicas ? 'ClickHouse' : `ClickHouse ${victim}`
    const store = typeof victim === 'number' ? node : victim === 'postgres' ? 'Postgres' : ''
    const ofVictim = (await momentsOf(stores, verb)).filter(({ statement }) => statement.startsWith(store))
    // For a killed command, the moment after a statement is the one before the next statement.
    const moments = ofVictim.filter(
      ({ holds }, i) => i % every === 0 && (victim !== 'command' || holds === 'request' || i === ofVictim.length - 1),
    )
    if (moments.length === 0) throw new Error('The command changes nothing.')
    await forEachConcurrently(
      [...moments.entries()],
      victim === 'command' ? commandsMax : 1,
      async ([number, moment]) => {
        const { statement, occurrence, holds } = moment
        const at = `killed ${holds === 'request' ? 'before' : 'after'} ${statement.slice(0, 80)} (${occurrence})`
        const runKilled = (words: readonly string[]) => runToMoment(stores, words, { ...moment, victim })
        await trial(`${number}`, at, runKilled, isLeaseExtension(statement))
      },
    )
    return moments.length
  })
}

/** The same right before each call of that name that a store makes during the command, for each of the stores. */
export function killStoresAtCalls(
  stores: CrashStores,
  verb: Verb,
  call: FileCall,
  victims: readonly Victim[],
): Promise<VerbKills> {
  const sweepOf = (victim: Victim, index: number): Sweep => ({
    name: `${call} of store ${index}`,
    async kill(words, at) {
      const { result, diedAt } = await withKill(victim, { call, at }, () => run(words, stores.environment))
      return { ended: result, isKilled: diedAt !== undefined }
    },
  })
  return killAtCalls(stores, verb, victims.map(sweepOf))
}

/** The same right before each call of these names that the command makes. */
export function killCommandAtCalls(stores: CrashStores, verb: Verb, calls: readonly FileCall[]): Promise<VerbKills> {
  const sweepOf = (call: FileCall): Sweep => ({
    name: call,
    async kill(words, at) {
      const ended = await runUntilCall(words, stores.environment, { call, at })
      return { ended, isKilled: ended.code === null }
    },
  })
  return killAtCalls(stores, verb, calls.map(sweepOf))
}

interface Sweep {
  name: string
  kill(words: readonly string[], at: number): ReturnType<RunKilled>
}

/** Kills at the first call, the second one and so on, until the command makes no further call. */
async function killAtCalls(stores: CrashStores, verb: Verb, sweeps: readonly Sweep[]): Promise<VerbKills> {
  return await compareKilled(stores, verb, async (trial) => {
    let moments = 0
    for (const { name, kill } of sweeps) {
      let isKilled = true
      for (let at = 1; isKilled && at <= callsMax; at++) {
        const label = `${name}-${at}`.replaceAll(' ', '-')
        isKilled = await trial(label, `killed at ${name} ${at}`, (words) => kill(words, at), true)
        if (isKilled) moments += 1
      }
    }
    return moments
  })
}

type RunKilled = (words: readonly string[]) => Promise<{ ended: Ended; isKilled: boolean }>

/**
 * Kills the command of one account and repeats it.
 * @param mayEnd whether the command may end before the moment, which is then no fault
 * @returns whether it was killed
 */
type Trial = (name: string, at: string, runKilled: RunKilled, mayEnd?: boolean) => Promise<boolean>

/**
 * Compares accounts with a killed command to an account without a kill, and another account with its earlier rows.
 * @param runTrials kills commands; returns the number of distinct moments
 */
async function compareKilled(
  stores: CrashStores,
  verb: Verb,
  runTrials: (trial: Trial) => Promise<number>,
): Promise<VerbKills> {
  const other = 'other'
  await createAccount(stores.stores.postgres, { id: other, name: other, plan: 'scale', currency: 'USD' })
  await storeRetained(stores.stores, other)
  const readOther = async () => [
    await storedRowsOf(stores.stores, other),
    ...(await postgresRowsOf(stores.stores.postgres, other)),
  ]
  const others = await readOther()
  const words = await verb.prepare(stores, 'whole')
  const whole = await run(words, stores.environment)
  if (whole.code !== 0) throw new Error(`${words.join(' ')}: ${whole.stderr}`)
  const expected = await readState('whole', whole)
  const faults: string[] = []
  let [killed, trials] = [0, 0]

  async function readState(account: string, last: Ended): Promise<string[]> {
    return [...(await stateOf(stores.stores, account)), ...((await verb.stateOf?.(stores, account, last)) ?? [])]
  }

  const moments = await runTrials(async (name, at, runKilled, mayEnd = false) => {
    const account = `killed-${name}`
    const wordsOfAccount = await verb.prepare(stores, account)
    const label = `${wordsOfAccount.join(' ')}, ${at}`
    const { ended, isKilled } = await runKilled(wordsOfAccount)
    if (isKilled) killed += 1
    if (isKilled || !mayEnd) trials += 1
    if (!isKilled && !mayEnd) faults.push(`${label}: it was not killed: ${ended.code} ${ended.stderr}`)
    const isDone = ({ code, stderr }: Ended) => code === 0 || verb.isDone?.test(stderr) === true
    let last = ended
    // Of a command that was killed after it had shown its result, the result is known.
    const mayRepeat = !(isKilled && verb.isShown?.test(ended.stdout))
    for (let attempt = 1; mayRepeat && !isDone(last) && attempt <= attemptsMax; attempt++)
      last = await run(wordsOfAccount, stores.environment)
    if (mayRepeat && !isDone(last)) faults.push(`${label}: ${last.code} ${last.stderr}`)
    const differences = differing(label, await readState(account, last), expected)
    if (differences.length > 0) faults.push(...differences, `  the killed command: ${ended.code} ${ended.stderr}`)
    return isKilled
  })
  faults.push(...differing('The other account', await readOther(), others))
  const verified = await runHere(['verify', '--json'], stores.environment)
  if (verified.code !== 0) faults.push(`verify exited with ${verified.code}: ${verified.stdout} ${verified.stderr}`)
  return { faults, killed, trials, moments }
}

/** Runs the command twice to its end. @returns the moments that both runs had: a slow run extends its lease more often */
async function momentsOf(stores: CrashStores, verb: Verb): Promise<Moment[]> {
  const runs: Map<string, number>[] = []
  for (const account of ['counted-1', 'counted-2']) {
    const { ended, sent } = await runToMoment(stores, await verb.prepare(stores, account))
    if (ended.code !== 0) throw new Error(`${account}: ${ended.stderr}`)
    runs.push(sent)
  }
  const [first, second] = runs
  return [...(first ?? [])].flatMap(([statement, count]) =>
    (verb.isMoment?.(statement) ?? isChange(statement))
      ? Array.from({ length: Math.min(count, second?.get(statement) ?? 0) }, (_, index) =>
          (['request', 'response'] as const).map((holds) => ({ statement, occurrence: index + 1, holds })),
        ).flat()
      : [],
  )
}

/**
 * Runs a command in its own process, to its end, or to a moment at which a process is killed.
 * @returns also how often it sent each statement, in the order in which the stores received them
 */
async function runToMoment(stores: CrashStores, words: readonly string[], moment?: Moment & { victim: VerbVictim }) {
  const { holds = 'request', victim = 'command' } = moment ?? {}
  const sent = new Map<string, number>()
  const isReached = (statement: string) => {
    const occurrence = (sent.get(statement) ?? 0) + 1
    sent.set(statement, occurrence)
    return statement === moment?.statement && occurrence === moment.occurrence
  }
  const proxies = await openStoreProxies(stores)
  /** Texts of prepared statements of Postgres by name; the names of all connections of a process differ. */
  const prepared = new Map<string, string>()
  const hold = (proxy: (typeof proxies.nodes)[number], read: (chunk: Buffer) => string[]) =>
    proxy.hold({ request: { test: (chunk) => read(Buffer.from(chunk, 'latin1')).filter(isReached).length > 0 }, holds })
  const held = Promise.race([
    hold(proxies.postgres, (chunk) => ofPostgres(chunk, prepared).map((statement) => `Postgres: ${statement}`)),
    ...proxies.nodes.map((node, index) =>
      hold(node, (chunk) => ofClickHouse(chunk).map((statement) => `ClickHouse ${index}: ${statement}`)),
    ),
  ])
  const child = start(words, proxies.environment)
  child.stdin.end()
  const ended = Promise.all([text(child.stdout), text(child.stderr), exitOf(child)])
  const release = () => {
    for (const proxy of [...proxies.nodes, proxies.postgres]) proxy.release()
  }
  try {
    const isKilled = await Promise.race([held.then(() => true), ended.then(() => false)])
    if (isKilled) {
      if (victim === 'command') child.kill('SIGKILL')
      else {
        if (holds === 'request') release()
        const killed = victim === 'postgres' ? stores.postgres : (stores.nodes[victim] ?? stores.nodes[0])
        // A held response of it is lost with the connection.
        await killed.kill()
        await killed.start()
        release()
      }
    }
    const [stdout, stderr, code] = await ended
    return { ended: { code, stdout, stderr }, isKilled, sent }
  } finally {
    child.kill('SIGKILL')
    await proxies.close()
  }
}

/** @returns the statements of Postgres that are executed once it receives the chunk; texts of prepared ones are added */
export function ofPostgres(chunk: Buffer, prepared: Map<string, string>): string[] {
  const executed: string[] = []
  const textAt = (start: number) => chunk.toString('utf8', start, chunk.indexOf(0, start))
  const after = (start: number) => chunk.indexOf(0, start) + 1
  for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readUInt32BE(at + 1)) {
    const content = at + 5
    const message = String.fromCharCode(chunk[at] ?? 0)
    if (message === 'P') prepared.set(textAt(content), textAt(after(content)))
    if (message === 'B') executed.push(prepared.get(textAt(after(content))) ?? '')
    if (message === 'Q') executed.push(textAt(content))
  }
  return executed.map((statement) => statement.replace(/\s+/g, ' ').trim()).filter((statement) => statement !== '')
}

/** @returns the beginning of the statement of ClickHouse that the chunk has, or the label of the query */
export function ofClickHouse(chunk: Buffer): string[] {
  const text = chunk.toString('latin1').replace(/\+|%20|%0A|\s+/g, ' ')
  const [change] = clickHouseChange.exec(text) ?? []
  const [, label] = /[?&]log_comment=([\w.]+)/.exec(text) ?? []
  return change || label ? [change ?? `query ${label}`] : []
}

const clickHouseChange =
  /\b(?:INSERT INTO|DELETE FROM|ALTER TABLE|KILL|OPTIMIZE TABLE|TRUNCATE|DROP|CREATE) [`\w.]+(?: [A-Z]+)?/

/** Whether a statement of Postgres extends a lease. A timer sends some of them: a slow command sends more. */
export function isLeaseExtension(statement: string): boolean {
  return statement.includes('UPDATE leases SET expires_at')
}

/** Whether a statement changes something. */
export function isChange(statement: string): boolean {
  return clickHouseChange.test(statement) || /\b(?:INSERT INTO|UPDATE|DELETE FROM|COMMIT)\b/i.test(statement)
}
