import type { Writer } from '../../src/writer/fence/session.ts'
import { interceptClickHouse } from './interceptedClickHouse.ts'

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
  const counted = new Proxy(postgres, {
    apply(target, self, given) {
      // Parts of statements are made by the same function.
      if (/^\s*(WITH|SELECT|INSERT|UPDATE|DELETE)/.test(given[0]?.[0] ?? '')) spend()
      return Reflect.apply(target, self, given)
    },
  })
  return {
    stores: interceptClickHouse({ clickhouse, postgres: counted }, spend),
    allow(statements) {
      left = statements
    },
  }
}
