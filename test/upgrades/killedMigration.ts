import { nodesOf } from '../../src/stores/cluster/connection.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import type { Stores } from '../../src/stores/open.ts'
import type { Postgres } from '../../src/stores/postgres/connection.ts'
import { interceptClickHouse } from '../kit/interceptedClickHouse.ts'

type MigratedStores = Pick<Stores, 'clickhouse' | 'postgres'>

/** The process was killed before a statement; it sends none afterwards. */
class Killed extends Error {}

/**
 * Migrates as processes that are killed, one after the other, before each statement that one of them would send, until a
 * process completes it. A process that was killed leaves its lease.
 * @param onKill what other processes do after the kill of a process
 * @returns the number of kills
 */
export async function migrateKilled(
  stores: MigratedStores,
  root: string,
  onKill: (kills: number) => Promise<unknown> = async () => {},
): Promise<number> {
  let kills = 0
  let statement = 0
  for (;;) {
    const completed = await countCompleted(stores)
    if (await migrateUntil(stores, root, statement)) return kills
    kills += 1
    // A file that has completed does not run again: the statements of the next process are counted from its first one.
    statement = (await countCompleted(stores)) > completed ? 0 : statement + 1
    await stores.postgres`UPDATE leases SET expires_at = '-infinity' WHERE name = 'migrate'`
    await onKill(kills)
  }
}

async function migrateUntil(
  { clickhouse, postgres }: MigratedStores,
  root: string,
  statement: number,
): Promise<boolean> {
  let left = statement
  const spend = () => {
    if (left-- <= 0) throw new Killed()
  }
  const killed = interceptClickHouse({ clickhouse, postgres: interceptPostgres(postgres, spend) }, spend)
  try {
    await migrate(killed, root)
    return true
  } catch (error) {
    // Also in the message of the node of a cluster.
    const isKilled = error instanceof Killed || (error as Error).cause instanceof Killed
    if (!isKilled) throw error
    return false
  } finally {
    left = 0
  }
}

/** The same Postgres, with a step before each statement and after each commit. */
function interceptPostgres(postgres: Postgres, before: () => void): Postgres {
  return new Proxy(postgres, {
    apply(target, self, given) {
      // Parts of statements are made by the same function.
      if (/^\s*(WITH|SELECT|INSERT|UPDATE|DELETE|SET|CREATE)\b/.test(given[0]?.[0] ?? '')) before()
      return Reflect.apply(target, self, given)
    },
    get(target, name) {
      if (name === 'begin') {
        return async (work: (transaction: Postgres) => Promise<unknown>) => {
          const result = await target.begin((transaction) => work(interceptPostgres(transaction as never, before)))
          before()
          return result
        }
      }
      const value = Reflect.get(target, name)
      if (name !== 'unsafe') return value
      return (...given: Parameters<Postgres['unsafe']>) => {
        before()
        return target.unsafe(...given)
      }
    },
  })
}

async function countCompleted({ clickhouse, postgres }: MigratedStores): Promise<number> {
  const [row] = await postgres<{ count: number }[]>`SELECT count(*)::integer AS count FROM schema_migrations`
  let completed = row?.count ?? 0
  for (const node of nodesOf(clickhouse)) {
    const query = 'SELECT toUInt32(count()) AS count FROM schema_migrations FINAL WHERE is_complete'
    const [found] = await (await node.query({ query, format: 'JSONEachRow' })).json<{ count: number }>()
    completed += found?.count ?? 0
  }
  return completed
}
