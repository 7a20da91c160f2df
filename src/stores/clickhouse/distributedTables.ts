import type { ClickHouseClient } from '@clickhouse/client'
import type { Cluster } from './cluster.ts'

/**
 * What decides on which node a row lies, the account first. All versions of a row meet on one node, and so do a row and
 * what views make of it, since they are made where it lies.
 */
const keys: Record<string, string> = {
  clicks: 'account_id, id',
  click_index: 'account_id, id',
  converted_click_rows: 'account_id, id',
  conversions: 'account_id, id',
  conversion_index: 'account_id, id',
  converted_clicks: 'account_id, conversion_id',
  pixel_events: 'account_id, origin, id',
  pixel_event_retries: 'account_id, id',
}

/**
 * Sums lie where the rows lie that they sum, and are added up over all nodes when they are read. What a repair adds to
 * those of an account lies on one node, so that readers see all of it or nothing.
 */
const keyOfSums = 'account_id'

/** What is noted beside each spread table, since rows lie where their hash, divided by this number, says. */
export function shardsOf({ shards }: Cluster): string {
  return `${shards} ${shards === 1 ? 'shard' : 'shards'}`
}

/** A table of a node, as ClickHouse describes it. */
interface Table {
  name: string
  engine: string
  /** Of a table that is spread over nodes: over how many shards. */
  comment: string
}

/**
 * Makes the tables that everybody asks what the nodes' own tables are: one for each, spread over all nodes. They hold
 * nothing, so they are simply made anew where they differ.
 * @param client of one node
 * @throws Error for a table whose rows have no known place
 */
export async function createDistributedTables(
  client: ClickHouseClient,
  cluster: Cluster,
  database: string,
): Promise<void> {
  const { name: clusterName, localDatabase } = cluster
  const local = (await tablesOf(client, localDatabase)).filter(
    ({ name, engine }) => engine.endsWith('MergeTree') && name !== 'schema_migrations',
  )
  const localColumns = await columnsOf(client, localDatabase)
  const spreadColumns = await columnsOf(client, database)
  for (const table of local) {
    if (localColumns.get(table.name) === spreadColumns.get(table.name)) continue
    const own = [localDatabase, table.name].map(nameLiteral).join('.')
    const engine = `Distributed(${[clusterName, localDatabase, table.name].map(textLiteral).join(', ')}, cityHash64(${keyOf(table)}))`
    await client.command({
      query: `CREATE OR REPLACE TABLE ${[database, table.name].map(nameLiteral).join('.')} AS ${own} ENGINE = ${engine} COMMENT ${textLiteral(shardsOf(cluster))}`,
    })
  }
  const present = new Set(local.map(({ name }) => name))
  for (const { name, engine } of await tablesOf(client, database)) {
    if (engine !== 'Distributed' || present.has(name)) continue
    await client.command({ query: `DROP TABLE ${[database, name].map(nameLiteral).join('.')}` })
  }
}

/** TRAP: a statement takes no parameters behind AS and ENGINE. */
function textLiteral(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}

function nameLiteral(name: string): string {
  return `\`${name.replace(/[`\\]/g, '\\$&')}\``
}

function keyOf({ name, engine }: Table): string {
  const key = keys[name] ?? (engine.endsWith('SummingMergeTree') ? keyOfSums : undefined)
  if (!key)
    throw new Error(`src/stores/clickhouse/distributedTables.ts does not say on which node a row of ${name} lies`)
  return key
}

/** The tables of a database, views among them. */
export async function tablesOf(client: ClickHouseClient, database: string): Promise<Table[]> {
  const answer = await client.query({
    query: 'SELECT name, engine, comment FROM system.tables WHERE database = {database:String} ORDER BY name',
    query_params: { database },
    format: 'JSONEachRow',
  })
  return await answer.json()
}

/** @returns what the columns of each table are, to be compared */
async function columnsOf(client: ClickHouseClient, database: string): Promise<Map<string, string>> {
  const answer = await client.query({
    query: `
      SELECT table, toString(arraySort(groupArray((position, name, type, default_kind, default_expression)))) AS columns
      FROM system.columns
      WHERE database = {database:String}
      GROUP BY table`,
    query_params: { database },
    format: 'JSONEachRow',
  })
  return new Map((await answer.json<{ table: string; columns: string }>()).map((row) => [row.table, row.columns]))
}
