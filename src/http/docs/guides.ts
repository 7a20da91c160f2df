import { anyConnectorGuide } from './guides/anyConnector.ts'
import { comparePeriodsGuide } from './guides/comparePeriods.ts'
import { drillDownGuide } from './guides/drillDown.ts'
import { errorsGuide } from './guides/errors.ts'
import { exportsGuide } from './guides/exports.ts'
import { funnelsGuide } from './guides/funnels.ts'
import { intoClickhouseGuide } from './guides/intoClickhouse.ts'
import { intoDuckdbGuide } from './guides/intoDuckdb.ts'
import { intoPostgresGuide } from './guides/intoPostgres.ts'
import { keysGuide } from './guides/keys.ts'
import { languageModelGuide } from './guides/languageModel.ts'
import { limitsGuide } from './guides/limits.ts'
import { localTimeGuide } from './guides/localTime.ts'
import { pagesGuide } from './guides/pages.ts'
import { sendingEventsGuide } from './guides/sendingEvents.ts'
import { syncGuide } from './guides/sync.ts'
import { toolsGuide } from './guides/tools.ts'
import { valuesGuide } from './guides/values.ts'

/**
 * The guides, as sections without operations, in the order of the documentation. Their text is Markdown;
 * test/docs/guides.test.ts runs every code block, in this order, on one account, and test/docs/warehouseGuides.test.ts those of
 * copies and language models.
 * @param baseUrl address of the API, `https://api.example.com/api/v1`
 */
export function guides(baseUrl: string): { name: string; description: string }[] {
  return [
    { name: 'Keys and scopes', description: keysGuide },
    { name: 'Parameters and values', description: valuesGuide },
    { name: 'Drill down', description: drillDownGuide(baseUrl) },
    { name: 'Compare periods', description: comparePeriodsGuide(baseUrl) },
    { name: 'Local time', description: localTimeGuide(baseUrl) },
    { name: 'Pages', description: pagesGuide(baseUrl) },
    { name: 'Exports', description: exportsGuide(baseUrl) },
    { name: 'Incremental sync', description: syncGuide(baseUrl) },
    { name: 'Into PostgreSQL', description: intoPostgresGuide(baseUrl) },
    { name: 'Into DuckDB and Parquet', description: intoDuckdbGuide(baseUrl) },
    { name: 'Into ClickHouse', description: intoClickhouseGuide(baseUrl) },
    { name: 'From any connector', description: anyConnectorGuide(baseUrl) },
    { name: 'Sending events', description: sendingEventsGuide(baseUrl) },
    { name: 'Funnels and journeys', description: funnelsGuide(baseUrl) },
    { name: 'Errors', description: errorsGuide },
    { name: 'Limits', description: limitsGuide },
    { name: 'With a language model', description: languageModelGuide(baseUrl) },
    { name: 'Tools', description: toolsGuide(baseUrl) },
  ]
}
