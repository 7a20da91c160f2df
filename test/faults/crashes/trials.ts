import { changes } from './changes.ts'
import { CrashAccount } from './crashAccount.ts'
import { type CrashStores, type Victim, withKill } from './crashStores.ts'
import type { FileCall } from './syscallKiller.ts'

/** One write, made while a process dies; numbers are given out once, so that each has a day of its own. */
export interface Trial {
  /** What stands before the write, of the numbers of all trials: stored at once, with nothing dying. */
  prepare?(account: CrashAccount, numbers: readonly number[]): Promise<unknown>
  write(account: CrashAccount, number: number): Promise<unknown>
}

export const trials = {
  click: { write: (account, number) => account.import(changes.clicks([number])) },
  conversion: {
    prepare: (account, numbers) => account.import(changes.clicks(numbers)),
    write: (account, number) => account.import(changes.conversions([number])),
  },
  'changed conversion': {
    async prepare(account, numbers) {
      await account.import(changes.clicks(numbers))
      await account.import(changes.conversions(numbers))
    },
    write: (account, number) => account.import(changes.approvals([number])),
  },
  event: {
    prepare: (account, numbers) => account.import(changes.clicks(numbers)),
    write: (account, number) => account.sendEvent(number, `event-${number}`),
  },
  'pixel event': { write: (account, number) => account.import(changes.pixelEvents([number])) },
  campaign: { write: (account, number) => account.import(changes.campaigns([`stored-${number}`])) },
} as const satisfies Record<string, Trial>

export type TrialName = keyof typeof trials

/** At which instants processes die. */
export interface Sweep {
  /** Before each call of that name that the write makes, from the first to the last. */
  call: FileCall
  /** How many writes die at each of them. */
  times: number
  /** Processes of the stores, which die in turns. */
  victims: readonly Victim[]
}

/** What came of trials. */
export interface Outcome {
  /** What was acknowledged and is not there, or is there twice; empty when nothing is. */
  faults: string[]
  /** How many writes a process died in, by what it was about to do. */
  deaths: Map<string, number>
}

/** More calls than any write makes. */
const callsMax = 250

/** Runs one kind of write on an account of its own, once for each instant, until it makes no further call. */
export async function runTrials(stores: CrashStores, trial: Trial, { call, times, victims }: Sweep): Promise<Outcome> {
  const account = await CrashAccount.open(stores)
  const deaths = new Map<string, number>()
  const faults: string[] = []
  let number = 0
  try {
    for (let at = 1, died = times; died > 0 && at <= callsMax; at++) {
      died = 0
      const numbers = Array.from({ length: times }, () => number++)
      await trial.prepare?.(account, numbers)
      for (const each of numbers) {
        const victim = victims[each % victims.length]
        if (!victim) throw new Error('There is nothing to kill.')
        try {
          const { diedAt } = await withKill(victim, { call, at }, () => trial.write(account, each))
          if (diedAt === undefined) continue
          died += 1
          const step = `${call} of ${stepOf(diedAt)}`
          deaths.set(step, (deaths.get(step) ?? 0) + 1)
        } catch (error) {
          faults.push(`Write ${each}, killed at ${call} ${at}: ${(error as Error).message}`)
        }
      }
    }
    faults.push(...(await account.differences()))
    return { faults, deaths }
  } finally {
    await account.close()
  }
}

/** The file that a call names, without what differs from run to run: `tmp_insert/data.bin`; most name a descriptor. */
function stepOf(callArguments: string): string {
  const [, path] = /"(\/[^"]*)"/.exec(callArguments) ?? []
  const names = path?.replace(/\/$/, '').split('/').slice(-2) ?? []
  return names.map((name) => name.replace(/_\d[\d_]*|[0-9a-f-]{36}/g, '')).join('/') || 'a descriptor'
}
