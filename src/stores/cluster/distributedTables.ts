import { type Client, execute } from '../clickhouse/client.ts'
import { selectRows } from '../clickhouse/select.ts'
import { ch, text } from '../clickhouse/sql.ts'
import { isUsable } from './chooseServer.ts'
import type { Cluster } from './cluster.ts'

/** Tables by sharding key, the account first. All versions of a row are on one node, with the rows that views derive from it. */
const tablesByKey = {
  'account_id, id': 'clicks click_index converted_click_rows conversions conversion_index costs cost_index'.split(' '),
  'account_id, conversion_id': ['converted_clicks'],
  'account_id, origin, id': ['pixel_events'],
}

/** Views write sums on the node of their rows. A repair writes an account's differences to one node: readers see all or none. */
const shardingKeyOfSums = 'account_id'

/** The comment of each distributed table: the hash of a row modulo this number selects its shard. */
export const shardsOf = ({ shards }: Cluster): string => `${shards} ${shards === 1 ? 'shard' : 'shards'}`

interface Table {
  name: string
  engine: string
  /** Of a distributed table: the number of shards. */
  comment: string
}

/**
 * Creates the distributed table of each local table. They store nothing, so one that differs is replaced.
 * @throws Error for a table without a sharding key
 */
export async function createDistributedTables(client: Client, cluster: Cluster, database: string): Promise<void> {
  const { name: clusterName, localDatabase } = cluster
  const local = await localTablesOf(client, cluster)
  const localColumns = await readColumnTypes(client, localDatabase)
  const distributedColumns = await readColumnTypes(client, database)
  for (const table of local) {
    if (localColumns.get(table.name) === distributedColumns.get(table.name)) continue
    const own = [localDatabase, table.name].map(nameLiteral).join('.')
    const engine = `Distributed(${[clusterName, localDatabase, table.name].map(textLiteral).join(', ')}, cityHash64(${shardingKeyOf(table)}))`
    await execute(client, {
      query: `CREATE OR REPLACE TABLE ${[database, table.name].map(nameLiteral).join('.')} AS ${own} ENGINE = ${engine} COMMENT ${textLiteral(shardsOf(cluster))}`,
    })
  }
  const present = new Set(local.map(({ name }) => name))
  for (const { name, engine } of await tablesOf(client, database)) {
    if (engine !== 'Distributed' || present.has(name)) continue
    await execute(client, { query: `DROP TABLE ${[database, name].map(nameLiteral).join('.')}` })
  }
}

/** Whether a node that responds lacks the distributed table of a local table, as after a restore of the local tables. */
export async function areDistributedTablesMissing(cluster: Cluster, database: string): Promise<boolean> {
  for (const { client } of cluster.nodes.filter(isUsable)) {
    const present = new Set((await tablesOf(client, database)).map(({ name }) => name))
    if ((await localTablesOf(client, cluster)).some(({ name }) => !present.has(name))) return true
  }
  return false
}

async function localTablesOf(client: Client, { localDatabase }: Cluster): Promise<Table[]> {
  return (await tablesOf(client, localDatabase)).filter(
    ({ name, engine }) => engine.endsWith('MergeTree') && name !== 'schema_migrations',
  )
}

/** TRAP: parameters are not allowed after AS and ENGINE. */
const textLiteral = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`

const nameLiteral = (name: string): string => `\`${name.replace(/[`\\]/g, '\\$&')}\``

function shardingKeyOf({ name, engine }: Table): string {
  const [key] = Object.entries(tablesByKey).find(([, tables]) => tables.includes(name)) ?? []
  if (!key && engine.endsWith('SummingMergeTree')) return shardingKeyOfSums
  if (!key) throw new Error(`src/stores/cluster/distributedTables.ts has no sharding key for ${name}`)
  return key
}

const options = { label: 'migrate' }

export function tablesOf(reader: Client, database: string): Promise<Table[]> {
  const query = ch`SELECT name, engine, comment FROM system.tables WHERE database = ${text(database)} ORDER BY name`
  return selectRows<Table>({ reader }, query, options)
}

/** @returns a text for each table that is equal when the columns are */
async function readColumnTypes(reader: Client, database: string): Promise<Map<string, string>> {
  const query = ch`
    SELECT table, toString(arraySort(groupArray((position, name, type, default_kind, default_expression)))) AS columns
    FROM system.columns
    WHERE database = ${text(database)}
    GROUP BY table`
  type Row = { table: string; columns: string }
  const rows = await selectRows<Row>({ reader }, query, options)
  return new Map(rows.map((row) => [row.table, row.columns]))
}
