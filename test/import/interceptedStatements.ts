import type { ClickHouseClient } from '@clickhouse/client'
import type { Stores } from '../../src/stores/open.ts'

type Statement = Parameters<ClickHouseClient['exec']>[0]

/**
 * The same stores, with a step before each statement that writes and matches; what the step throws is what the sender gets.
 * @param step `send` runs the statement for real and waits until it has ended
 */
export function interceptStatements(
  stores: Stores,
  pattern: RegExp,
  step: (statement: Statement, send: (statement: Statement) => Promise<void>) => Promise<unknown>,
): Stores {
  const client = new Proxy(stores.clickhouse.client, {
    get(target, name) {
      const value = Reflect.get(target, name)
      if (name !== 'exec') return typeof value === 'function' ? value.bind(target) : value
      return async (statement: Statement) => {
        const send = async (one: Statement) => void (await (await target.exec(one)).stream.toArray())
        if (pattern.test(statement.query)) await step(statement, send)
        return await target.exec(statement)
      }
    },
  })
  return { ...stores, clickhouse: { ...stores.clickhouse, client } }
}
