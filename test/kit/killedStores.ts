import type { Writer } from '../../src/writer/fence/session.ts'
import { interceptClickHouse } from './interceptedClickHouse.ts'
import { interceptPostgres } from './interceptedPostgres.ts'

/** The process was killed before a statement. */
export class Killed extends Error {}

/**
 * The same stores for a process that is killed before one of its statements, of Postgres or ClickHouse.
 * @returns stores, and a function that sets how many statements are sent from now on; at first all are
 */
export function killableStores({ postgres, clickhouse }: Writer['stores']): {
  stores: Writer['stores']
  allow(statements: number): void
} {
  let left = Number.POSITIVE_INFINITY
  const spend = () => {
    if (left-- <= 0) throw new Killed()
  }
  const counted = interceptPostgres(postgres, (text, run) => {
    if (/^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/.test(text)) spend()
    return run()
  })
  return {
    stores: interceptClickHouse({ clickhouse, postgres: counted }, spend),
    allow(statements) {
      left = statements
    },
  }
}
