import { campaignsOfClicks } from './changes.ts'
import { type CrashAccount, openCrashAccount } from './crashAccount.ts'
import { type CrashStores, type Victim, withKill, withOpened } from './crashStores.ts'
import type { FileCall } from './syscallKiller.ts'

/** One kind of write, made while a process is killed. Each number is used once and has its own day. */
export interface Trial {
  /** Stores the rows that the writes refer to, for all numbers at once, before any kill. */
  prepare?(account: CrashAccount, numbers: readonly number[]): Promise<unknown>
  write(account: CrashAccount, number: number): Promise<unknown>
}

export const trials = {
  click: { write: (account, number) => account.import('clicks', [number]) },
  conversion: {
    prepare: (account, numbers) => account.import('clicks', numbers),
    write: (account, number) => account.import('conversions', [number]),
  },
  'changed conversion': {
    async prepare(account, numbers) {
      await account.import('clicks', numbers)
      await account.import('conversions', numbers)
    },
    write: (account, number) => account.import('approvals', [number]),
  },
  'corrected cost': {
    prepare: (account, numbers) => account.import('costs', numbers),
    write: (account, number) => account.import('corrections', [number]),
  },
  event: {
    prepare: (account, numbers) => account.import('clicks', numbers),
    write: (account, number) => account.sendEvents(number, [`event-${number}`]),
  },
  'batch of events': {
    prepare: (account, numbers) => account.import('clicks', numbers),
    write: (account, number) =>
      account.sendEvents(
        number,
        [0, 1, 2].map((index) => `event-${number}-${index}`),
      ),
  },
  'pixel event': { write: (account, number) => account.import('pixelEvents', [number]) },
  campaign: { write: (account, number) => account.import('campaigns', [campaignsOfClicks.length + number]) },
} as const satisfies Record<string, Trial>

export type TrialName = keyof typeof trials

/** The instants at which processes are killed. */
export interface Sweep {
  /** The kill happens before each call of that name that the write makes, from the first to the last. */
  call: FileCall
  repetitions: number
  /** 1: kills at each such call; 3: at every third one, from the first. */
  every: number
  victims: readonly Victim[]
}

const callsMax = 250
/** Numbers that are prepared at a time: an import costs more than its rows. */
const preparedCount = 32

/**
 * Runs one kind of write on its own account, `repetitions` times for each instant, until it makes no further call.
 * @returns acknowledged rows that are missing, wrong or stored twice, and the number of kills by the call that the process was
 *   about to make
 */
export async function runTrials(
  stores: CrashStores,
  trial: Trial,
  { call, repetitions, every, victims }: Sweep,
): Promise<{ faults: string[]; kills: Map<string, number> }> {
  return await withOpened(openCrashAccount(stores), async (account) => {
    const kills = new Map<string, number>()
    const faults: string[] = []
    let number = 0
    for (let at = 1, killed = repetitions; killed > 0 && at <= callsMax; at += every) {
      killed = 0
      for (let repetition = 0; repetition < repetitions; repetition++) {
        if (number % preparedCount === 0) {
          const numbers = Array.from({ length: preparedCount }, (_, index) => number + index)
          await trial.prepare?.(account, numbers)
        }
        const written = number++
        const victim = victims[written % victims.length]
        if (!victim) throw new Error('The sweep has no victims.')
        try {
          const { diedAt } = await withKill(victim, { call, at }, () => trial.write(account, written))
          if (diedAt === undefined) continue
          killed += 1
          const step = `${call} of ${stepOf(diedAt)}`
          kills.set(step, (kills.get(step) ?? 0) + 1)
        } catch (error) {
          faults.push(`Write ${written}, killed at ${call} ${at}: ${(error as Error).message}`)
        }
      }
    }
    return { faults: [...faults, ...(await account.differences())], kills }
  })
}

/** The file that a call names, without the parts that differ between runs, `tmp_insert/data.bin`; most name a descriptor. */
function stepOf(callArguments: string): string {
  const [, path] = /"(\/[^"]*)"/.exec(callArguments) ?? []
  const names = path?.replace(/\/$/, '').split('/').slice(-2) ?? []
  return names.map((name) => name.replace(/_\d[\d_]*|[0-9a-f-]{36}/g, '')).join('/') || 'a descriptor'
}
