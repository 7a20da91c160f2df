import type { ColumnKind, Fields } from '../stores/clickhouse/columnKinds.ts'
import { entityIdFields, subIdFields } from '../stores/clickhouse/tableColumns.ts'

interface Parts<Part> {
  /** A field that a row of the API has as it is stored. */
  field(name: string, kind: ColumnKind): Part
  entity(name: string): readonly Part[]
  subIds: Part
  /** Follows the base amount. */
  baseCurrency: Part
}

/** @returns the parts of a row in the order of the API */
export function rowLayout<Part>(stored: Fields, { field, entity, subIds, baseCurrency }: Parts<Part>): Part[] {
  return Object.entries(stored).flatMap(([name, kind]) => {
    if (name in entityIdFields) return entity(name)
    if (name in subIdFields) return name === 'sub1' ? [subIds] : []
    const isBaseAmount = name === 'costBase' || name === 'revenueBase'
    return isBaseAmount ? [field(name, kind), baseCurrency] : [field(name, kind)]
  })
}
