import type { Account } from '../accounts/accounts.ts'
import { ClickBatch } from '../writing/clicks.ts'
import { KnownClicks } from '../writing/knownClicks.ts'
import type { Writer } from '../writing/writer.ts'
import { clickReader } from './click.ts'
import type { RawFields } from './fields.ts'

/** What became of rows that were taken. */
export interface Outcome {
  inserted: number
  updated: number
  duplicates: number
}

/** Rows of one resource, gathered and stored together; empty again once they are stored. */
export interface RowBatch {
  readonly isFull: boolean
  /** @throws Refusal when the row is not taken */
  add(fields: RawFields, from: 'json' | 'cells', line: number): void
  store(): Promise<Outcome>
}

/** How the rows of one resource are taken and stored. */
export interface Resource {
  /** Two are filled and stored in turns: while one is on its way, the next one fills. */
  newBatch(): RowBatch
}

/** Everything that can be imported, by the name that the command gives it. */
export const resources = {
  clicks: clickResource,
} as const

export type ResourceName = keyof typeof resources

function clickResource(writer: Writer, account: Account): Resource {
  const read = clickReader(account)
  const known = new KnownClicks(writer)
  return {
    newBatch() {
      const batch = new ClickBatch()
      let added = 0
      return {
        get isFull() {
          return batch.isFull
        },
        add(fields, from) {
          batch.add(read(fields, from))
          added += 1
        },
        async store() {
          const inserted = await batch.store(writer, known)
          const outcome = { inserted, updated: 0, duplicates: added - inserted }
          added = 0
          return outcome
        },
      }
    },
  }
}
