import type { ClickHouseSettings } from '@clickhouse/client'
import { pageBytesMax } from '../../schema/page.ts'
import { selectFirstRows, selectGroups, selectRows } from '../stores/clickhouse/select.ts'
import type { Fragment } from '../stores/clickhouse/sql.ts'
import type { Stores } from '../stores/open.ts'
import type { RetainedRanges } from '../stores/postgres/retainedRanges.ts'
import type { RowTable } from './attributes.ts'
import type { ValuesByDimension } from './entityValues.ts'
import type { View } from './keyView.ts'

/** A resource whose rows are in ClickHouse. */
export type ListedResource = RowTable | 'events'

/** Whose rows a plan reads. */
export interface PlanCaller {
  accountId: string
  currency: string
  retained: RetainedRanges
  /** The part of the account that the caller sees; null: all of it. */
  view: View | null
  /** Of the entity dimensions that the request names. */
  entityValues?: ValuesByDimension
}

/** What a read of a request needs. */
export interface ReadContext {
  readonly stores: Pick<Stores, 'clickhouse' | 'postgres' | 'postgresReader'>
  /** Aborts when the client has disconnected, and at the deadline of the read. It ends queries of ClickHouse. */
  readonly signal: AbortSignal
}

type Read = [context: ReadContext, query: Fragment, label: string, settings?: ClickHouseSettings | undefined]
const argumentsOf = ([{ stores, signal }, query, label, settings = {}]: Read) =>
  [stores.clickhouse, query, { label, signal, settings }] as const

/** Runs a SELECT of a read, as `selectRows` does. */
export const readRows = <Row>(...read: Read) => selectRows<Row>(...argumentsOf(read))

/** Runs a SELECT … GROUP BY of a read, as `selectGroups` does. */
export const readGroups = <Row>(...read: Read) => selectGroups<Row>(...argumentsOf(read))

/** Runs a SELECT of rows that may be long, as `readRows`. @returns its first rows, at least one; `isCut`: they fill a page */
export function readLongRows<Row>(...read: Read) {
  const [clickhouse, query, options] = argumentsOf(read)
  return selectFirstRows<Row>(clickhouse, query, { ...options, bytesMax: pageBytesMax })
}
