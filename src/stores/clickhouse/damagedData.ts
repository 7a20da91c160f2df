import type { ClickHouseError } from '@clickhouse/client'
import { ExpectedError } from '../../expectedError.ts'

/** A part of a table that has other bytes than ClickHouse has written, or lacks some. */
export interface Damage {
  table: string
  /** The folder of the part, on the machine of ClickHouse. */
  path: string
  reason: string
}

/** ClickHouse cannot read what a statement needs. */
export class DamagedData extends ExpectedError {
  readonly damage: Damage

  constructor(damage: Damage, cause: ClickHouseError) {
    super(`ClickHouse cannot read ${describeDamage(damage)}. ${damageAdvice}`, { cause })
    this.damage = damage
  }
}

export const damageAdvice =
  'Restore a backup; without one, docs/restore.md says how to go on without the part: "Damaged files".'

export function describeDamage({ table, path, reason }: Damage): string {
  return `${table}, part ${path}: ${reason}`
}

/** ClickHouse's codes for the end of a file, a checksum, a file that is missing or has another size, and bytes without meaning. */
const codes = new Set('32 33 40 107 226 228 246 271 432'.split(' '))

/** Without this text the bytes are of a request, or of another node. */
const readingPart = /^(.*?): (?:.*\()?while reading from part (\S+?)\/? in table \S+\.(\w+)/s

/** @returns the error as DamagedData, if a part of a table is damaged */
export function damagedDataOf(error: ClickHouseError): DamagedData | undefined {
  const [, reason = '', path = '', table = ''] = (codes.has(error.code) && readingPart.exec(error.message)) || []
  return table ? new DamagedData({ table, path, reason }, error) : undefined
}
