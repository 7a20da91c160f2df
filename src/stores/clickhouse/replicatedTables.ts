/**
 * A statement of a migration as a replica has to run it: its tables copy from each other, so rows that it makes are made
 * on the first replica of a shard only.
 * @returns undefined where there is nothing to do
 * @throws Error for a statement of a kind that this does not know
 */
export function replicatedStatement(statement: string, isFirst: boolean): string | undefined {
  const text = statement.replace(/^\s*--.*$/gm, '').trim()
  if (/^CREATE TABLE\b/.test(text)) return replicated(statement)
  if (/^(INSERT INTO|ALTER TABLE\s+\w+\s+MATERIALIZE)\b/.test(text)) return isFirst ? statement : undefined
  // Of changes to a table the second replica learns from the first, and settings are each one's own: IF NOT EXISTS fits both.
  if (/^(CREATE MATERIALIZED VIEW|ALTER TABLE|DROP (TABLE|VIEW))\b/.test(text)) return statement
  throw new Error(`no rule for replicas fits the statement "${text.split('\n')[0]}"`)
}

/** Replicas of a table find each other by its path in Keeper. */
const replicaPath = `'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'`

function replicated(statement: string): string {
  let isFound = false
  const changed = statement.replace(
    /^ENGINE = (\w*MergeTree)(?:\(([^\n]*)\))?$/m,
    (_, engine: string, options?: string) => {
      isFound = true
      return `ENGINE = Replicated${engine}(${replicaPath}${options ? `, ${options}` : ''})`
    },
  )
  if (!isFound) throw new Error(`no engine of a table stands on a line of its own in "${statement.split('\n')[0]}"`)
  return changed
}
