import type { Filled, Verified } from './source/copy.ts'

/** What a run has done. */
export interface Result {
  account: string
  /** Without user and password. */
  target: string
  /** The time before which all rows of the resources are copied; null if only metadata is copied. */
  asOf: string | null
  durationMs: number
  /** Rows that were stored, by resource. */
  rows: Record<string, number>
  verified?: Record<string, Verified>
  /** Days for which a file was written or removed; empty for a database. */
  written: Record<string, string[]>
  /** New columns, which all rows have now. */
  filled: Record<string, Filled>
}

/** @returns lines for a person */
export function resultLines(result: Result): string[] {
  const lines = [`Account ${result.account} in ${result.target}, as of ${result.asOf ?? 'now'}.`]
  for (const [name, days] of Object.entries(result.written)) {
    lines.push(`Files written: ${name} of ${days.length} days.`)
  }
  const counts = Object.entries(result.rows).map(([name, rows]) => `${name} ${rows}`)
  lines.push(`Rows stored: ${counts.join(', ')}.`)
  for (const [name, { columns, from }] of Object.entries(result.filled)) {
    const kept = from ? `; rows before ${from}, which the account has removed, lack them` : ''
    lines.push(`New columns filled for all rows: ${name} ${columns.join(', ')}${kept}.`)
  }
  for (const [name, { from, to, days, rows, compared, repaired }] of Object.entries(result.verified ?? {})) {
    // The account may have removed all days by age.
    const range = from <= to ? `, ${from} to ${to}` : ''
    const fixed = repaired.length > 0 ? `; replaced ${repaired.join(', ')}` : ''
    lines.push(`Verified: ${rows} ${name} of ${days} days${range}; compared by day: ${compared.join(', ')}${fixed}.`)
  }
  return lines
}
