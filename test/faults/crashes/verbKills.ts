import { text } from 'node:stream/consumers'
import { createAccount } from '../../../src/accounts/accounts.ts'
import { type Ended, exitOf, run, runHere, start } from '../../cli/runCommand.ts'
import { importRetained, storedRowsOf } from '../../writer/retention/retainedAccount.ts'
import { stateOf } from './accountState.ts'
import { differing } from './comparison.ts'
import type { CrashStores, Victim } from './crashStores.ts'
import type { Hold } from './holdingProxy.ts'
import { openStoreProxies } from './storeProxies.ts'
import { type Verb, type VerbName, verbs } from './verbs.ts'

/** What is killed at a moment of a command: the process of the command, or one of its stores, which is restarted at once. */
export type VerbVictim = 'command' | ((stores: CrashStores) => Victim)

/** Commands that are killed concurrently; an engine is killed during one command at a time. */
const commandsMax = 4
/** Repetitions of a command until it ends without an error. */
const attemptsMax = 4

/**
 * Runs a command on one account per kill, kills it or a store at moments spread evenly over the command, and runs the command
 * again. A moment is a chunk of bytes that the command sends to a store. For every second kill the store executes
 * the request before the kill, and the command gets no response.
 * @returns accounts that differ from one that ran the command without a kill, and the number of kills
 */
export async function killVerb(
  stores: CrashStores,
  name: VerbName,
  victim: VerbVictim,
  kills: number,
): Promise<{ faults: string[]; killed: number; chunks: number }> {
  const verb: Verb = verbs[name]
  const other = 'other'
  await createAccount(stores.stores.postgres, { id: other, name: other, plan: 'scale', currency: 'USD' })
  await importRetained(stores.stores, other)
  const others = await storedRowsOf(stores.stores, other)
  const whole = await runVerb(stores, await verb.prepare(stores, 'whole'))
  if (whole.ended.code !== 0) return { faults: [`${name}: ${whole.ended.stderr}`], killed: 0, chunks: whole.chunks }
  const expected = await stateOf(stores.stores, 'whole')
  const faults: string[] = []
  let killed = 0

  async function trial(number: number): Promise<void> {
    const account = `killed-${number}`
    const at = Math.ceil(((number + 0.5) * whole.chunks) / kills)
    const holds = number % 2 === 0 ? 'request' : 'response'
    const words = await verb.prepare(stores, account)
    const { isKilled, ended } = await runVerb(stores, words, { victim, at, holds })
    if (isKilled) killed += 1
    let last = ended
    for (let attempt = 1; last.code !== 0 && attempt <= attemptsMax; attempt++) {
      last = await run(words, stores.environment)
      if (verb.isDone?.test(last.stderr)) break
    }
    const label = `${words.join(' ')}, killed at ${at} of ${whole.chunks} (${holds})`
    if (last.code !== 0 && !verb.isDone?.test(last.stderr)) faults.push(`${label}: ${last.code} ${last.stderr}`)
    const differences = differing(label, await stateOf(stores.stores, account), expected)
    if (differences.length > 0) faults.push(...differences, `  the killed command: ${ended.code} ${ended.stderr}`)
  }

  const queue = Array.from({ length: kills }, (_, number) => number)
  const runQueued = async () => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await trial(next)
  }
  await Promise.all(Array.from({ length: victim === 'command' ? commandsMax : 1 }, runQueued))
  if ((await storedRowsOf(stores.stores, other)) !== others) faults.push('Rows of the other account have changed.')
  const verified = await runHere(['verify', '--json'], stores.environment)
  if (verified.code !== 0) faults.push(`verify exited with ${verified.code}: ${verified.stdout} ${verified.stderr}`)
  return { faults, killed, chunks: whole.chunks }
}

interface VerbKill {
  victim: VerbVictim
  /** The chunk at which it is killed, counted from 1. */
  at: number
  holds: Exclude<Hold['holds'], 'body'>
}

/** Runs a command in its own process, to its end or to a kill. */
async function runVerb(
  stores: CrashStores,
  words: readonly string[],
  kill?: VerbKill,
): Promise<{ ended: Ended; chunks: number; isKilled: boolean }> {
  const proxies = await openStoreProxies(stores)
  const both = [proxies.clickhouse, proxies.postgres]
  let chunks = 0
  const counted = { test: () => ++chunks === kill?.at }
  const held = Promise.race(both.map((proxy) => proxy.hold({ request: counted, holds: kill?.holds ?? 'request' })))
  const child = start(words, proxies.environment)
  child.stdin.end()
  const ended = Promise.all([text(child.stdout), text(child.stderr), exitOf(child)])
  try {
    const isKilled = await Promise.race([held.then(() => true), ended.then(() => false)])
    if (isKilled && kill) {
      if (kill.victim === 'command') child.kill('SIGKILL')
      else {
        if (kill.holds === 'request') release()
        await restart(kill.victim(stores))
        release()
      }
    }
    const [stdout, stderr, code] = await ended
    return { ended: { code, stdout, stderr }, chunks, isKilled }
  } finally {
    child.kill('SIGKILL')
    await proxies.close()
  }

  function release(): void {
    for (const proxy of both) proxy.release()
  }
}

/** Kills a store. A held response of it is lost with the connection. */
async function restart(victim: Victim): Promise<void> {
  const { pid, ended } = victim
  process.kill(pid, 'SIGKILL')
  await ended
  await victim.start()
}
