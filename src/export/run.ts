import type { ResourceName } from '../import/resourceNames.ts'
import { rowFormatSettings } from '../rows/clickhouseOutputFormat.ts'
import { streamBytes } from '../stores/clickhouse/select.ts'
import type { Fragment } from '../stores/clickhouse/sql.ts'
import type { Stores } from '../stores/open.ts'
import { metadataLines } from './metadata.ts'
import { clicksSql, conversionsSql, pixelEventsSql, type RowQuery } from './sql.ts'

type ReadableStores = Pick<Stores, 'clickhouse' | 'postgres'>
type Exporter = (stores: ReadableStores, query: RowQuery, signal: AbortSignal) => AsyncIterable<Buffer>

/** The exporter of each resource. */
const exporters: Record<ResourceName, Exporter> = {
  clicks: fromClickHouse(clicksSql, 'export.clicks'),
  conversions: fromClickHouse(conversionsSql, 'export.conversions'),
  'pixel-events': fromClickHouse(pixelEventsSql, 'export.pixel_events'),
  campaigns: ({ postgres }, query) => metadataLines(postgres, 'campaigns', query),
  offers: ({ postgres }, query) => metadataLines(postgres, 'offers', query),
  'landing-pages': ({ postgres }, query) => metadataLines(postgres, 'landing_pages', query),
  'traffic-sources': ({ postgres }, query) => metadataLines(postgres, 'traffic_sources', query),
}

/**
 * Reads the stored rows of a resource in a format that `import` reads: every row in its latest state, including tests and
 * bots, in an order that depends only on the rows. Uses constant memory.
 * @param signal ends the export
 * @throws Problem `unavailable`, also during iteration: the rows so far are then incomplete
 */
export function exportRows(
  stores: ReadableStores,
  { resource, ...query }: RowQuery & { resource: ResourceName },
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  return exporters[resource](stores, query, signal)
}

function fromClickHouse(sqlOf: (query: RowQuery) => Fragment, label: string): Exporter {
  return ({ clickhouse }, query, signal) =>
    streamBytes(clickhouse, sqlOf(query), { label, signal, settings: rowFormatSettings })
}
