import { changing, columnNameOf } from '../../../src/packages/sync/source/resources.ts'

const changedBy: Record<string, string> = {
  text: "|| 'x'",
  bigint: '+ 1',
  timestamptz: "+ interval '1 ms'",
  'numeric(18,6)': '+ 0.000001',
}

/**
 * Statements that change a column of a row of a copy: each column of the identity, the times and the amount.
 * @returns sets of statements, each with at most one of a resource
 */
export function plantedDifferences(): { resource: string; statement: string }[][] {
  const columns = changing.map(({ name, key, time, amount, fields }) =>
    [...key, time, 'storedAt', ...(amount ? [amount] : [])].map((field) => {
      const column = columnNameOf(field)
      const changed = `${column} ${changedBy[`${fields[field]}`.replace(' NOT NULL', '')]}`
      const row = `(SELECT min(id) FROM tributary.${name} WHERE ${column} IS NOT NULL)`
      return { resource: name, statement: `UPDATE tributary.${name} SET ${column} = ${changed} WHERE id = ${row}` }
    }),
  )
  const countMax = Math.max(...columns.map(({ length }) => length))
  return Array.from({ length: countMax }, (_, n) => columns.flatMap((one) => one[n] ?? []))
}
