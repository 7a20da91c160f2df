import type { PendingQuery, Row } from 'postgres'
import type { Postgres } from '../../src/stores/postgres/connection.ts'

/**
 * The same Postgres, with a step at each statement, and at each part of one.
 * @param at returns what the sender gets; `run` makes the query, which is sent when it is awaited
 */
export function interceptPostgres(
  postgres: Postgres,
  at: (text: string, run: () => PendingQuery<Row[]>) => unknown,
): Postgres {
  return new Proxy(postgres, {
    apply(target, self, given: unknown[]) {
      const [first] = given
      const run = () => Reflect.apply(target, self, given)
      // Names and lists of values are made by the same function.
      return Array.isArray(first) && 'raw' in first ? at(first.join('?'), run) : run()
    },
  })
}
