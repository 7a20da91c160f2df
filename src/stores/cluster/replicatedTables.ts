/**
 * Adapts a statement of a migration to a replica. Rows are inserted and changed on the first replica of a shard only.
 * @returns undefined when the replica skips it
 * @throws Error for an unknown kind of statement
 */
export function replicatedStatement(statement: string, isFirst: boolean): string | undefined {
  const text = statement.replace(/^[ \t]*--.*$/gm, '').trim()
  if (/^CREATE TABLE\b/.test(text)) return replicated(statement)
  if (/^(INSERT INTO|ALTER TABLE\s+\w+\s+(MATERIALIZE|CLEAR))\b/.test(text)) return isFirst ? statement : undefined
  // Changes to a table are replicated, settings are not: IF NOT EXISTS works for both.
  if (/^(CREATE MATERIALIZED VIEW|ALTER TABLE|DROP (TABLE|VIEW))\b/.test(text)) return statement
  throw new Error(`no rule for replicas fits the statement "${text.split('\n')[0]}"`)
}

/** The path in Keeper by which the replicas of a table find each other. */
const replicaPath = `'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'`

function replicated(statement: string): string {
  const changed = statement.replace(
    /^ENGINE = (\w{0,40}MergeTree)(?:\((.*)\))?$/m,
    (_, engine: string, options?: string) =>
      `ENGINE = Replicated${engine}(${replicaPath}${options ? `, ${options}` : ''})`,
  )
  if (changed === statement)
    throw new Error(`the table's engine is not on a line of its own in "${statement.split('\n')[0]}"`)
  return changed
}
