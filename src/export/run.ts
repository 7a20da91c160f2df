import type { NamedTable } from '../../schema/metadata.ts'
import { resourceTables } from '../import/resourceNames.ts'
import { rowFormatSettings } from '../rows/clickhouseOutputFormat.ts'
import { streamBytes } from '../stores/clickhouse/select.ts'
import type { Stores } from '../stores/open.ts'
import { metadataLines } from './metadata.ts'
import { exportStatements, type RowQuery } from './sql.ts'

type RowStores = Pick<Stores, 'clickhouse' | 'postgres'>

/**
 * Reads the stored rows of a resource in a format that `import` reads: every row in its latest state, including tests and
 * bots, in an order that depends only on the rows. Uses constant memory.
 * @param signal ends the export
 * @throws Problem `unavailable`, also during iteration: the rows so far are then incomplete
 */
export function exportRows({ clickhouse, postgres }: RowStores, query: RowQuery, signal: AbortSignal) {
  const table = resourceTables[query.resource]
  if (!(table in exportStatements)) return metadataLines(postgres, table as NamedTable, query)
  const options = { label: `export.${table}`, signal, settings: rowFormatSettings }
  return streamBytes(clickhouse, exportStatements[table as keyof typeof exportStatements](query), options)
}
