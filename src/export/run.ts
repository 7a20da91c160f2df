import type { ResourceName } from '../import/resourceNames.ts'
import { rowFormatSettings } from '../rows/exportFormat.ts'
import { streamBytes } from '../stores/clickhouse/select.ts'
import type { Fragment } from '../stores/clickhouse/sql.ts'
import type { Stores } from '../stores/open.ts'
import { metadataLines } from './metadata.ts'
import { clicksSql, conversionsSql, pixelEventsSql, type RowQuery } from './sql.ts'

type ReadableStores = Pick<Stores, 'clickhouse' | 'postgres'>
type Exporter = (stores: ReadableStores, question: RowQuery, signal: AbortSignal) => AsyncIterable<Buffer>

/** Everything that can be exported, by the name that the command gives it. */
const exporters: Record<ResourceName, Exporter> = {
  clicks: fromClickHouse(clicksSql, 'export.clicks'),
  conversions: fromClickHouse(conversionsSql, 'export.conversions'),
  'pixel-events': fromClickHouse(pixelEventsSql, 'export.pixel_events'),
  campaigns: ({ postgres }, question) => metadataLines(postgres, 'campaigns', question),
  offers: ({ postgres }, question) => metadataLines(postgres, 'offers', question),
  'landing-pages': ({ postgres }, question) => metadataLines(postgres, 'landing_pages', question),
  'traffic-sources': ({ postgres }, question) => metadataLines(postgres, 'traffic_sources', question),
}

/**
 * Reads the stored rows of a resource as a file that `import` takes: every row in its latest state, tests and bots
 * included, in an order that depends on the rows alone. Memory stays constant.
 * @param signal ends the reading
 * @throws Problem `unavailable`, also in the middle: what came before is then not all
 */
export function exportRows(
  stores: ReadableStores,
  { resource, ...question }: RowQuery & { resource: ResourceName },
  signal: AbortSignal,
): AsyncIterable<Buffer> {
  return exporters[resource](stores, question, signal)
}

function fromClickHouse(sqlOf: (question: RowQuery) => Fragment, label: string): Exporter {
  return ({ clickhouse }, question, signal) =>
    streamBytes(clickhouse, sqlOf(question), { label, signal, settings: rowFormatSettings })
}
