import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problems } from '../../../schema/errorCodes.ts'
import { propertyLimits } from '../../../schema/event.ts'
import { batchLimits } from '../../../schema/eventBatch.ts'
import { filterValuesMax } from '../../../schema/filters.ts'
import { pageLimitDefault, pageLimitMax } from '../../../schema/page.ts'
import { reportBucketsMax } from '../../../schema/report.ts'
import { packageRoot } from '../../package.ts'

/** Files of `guides/` in the order of the documentation: about the API, and about copies and other programs. `npm run build` copies them. */
const guideNames =
  'keys values drillDown comparePeriods localTime pages exports sendingEvents sendingRows funnels errors limits'.split(
    ' ',
  )
const programGuideNames = 'sync intoPostgres intoDuckdb intoClickhouse anyConnector languageModel tools'.split(' ')

/**
 * The introduction above the operations, and the guides as sections without operations, in Markdown.
 * test/docs/guides.test.ts runs their code blocks in this order, on one account; test/docs/warehouseGuides.test.ts runs the
 * blocks about copies and language models.
 * @param serverUrl address of the server, the argument `--url` of the packages
 * @param baseUrl address of the API
 */
export function readGuides(serverUrl: string, baseUrl: string) {
  const values: Readonly<Record<string, string | number>> = {
    serverUrl,
    baseUrl,
    pageLimitMax,
    pageLimitDefault,
    filterValuesMax,
    reportBucketsMax: reportBucketsMax.toLocaleString('en'),
    batchEventsMax: batchLimits.eventsMax.toLocaleString('en'),
    propertiesMax: propertyLimits.keysMax,
    propertyLengthMax: propertyLimits.textLengthMax,
    errorTable: errorTable(),
  }
  const read = (name: string) =>
    readFileSync(join(packageRoot, `dist/docs/guides/${name}.md`), 'utf8')
      .replace(/\{\{(\w+)\}\}/g, (_, value: string) => {
        if (!(value in values)) throw new Error(`The guide ${name} names {{${value}}}, which does not exist.`)
        return `${values[value]}`
      })
      .trim()
  const sectionOf = (name: string) => {
    const [title = '', ...paragraphs] = read(name).split('\n\n')
    return { name: title.replace('# ', ''), description: paragraphs.join('\n\n') }
  }
  return {
    introduction: read('introduction'),
    guides: guideNames.map(sectionOf),
    programGuides: programGuideNames.map(sectionOf),
  }
}

function errorTable(): string {
  return [
    '| status | `error` | condition |',
    '| --- | --- | --- |',
    '| 400 | `invalid_<parameter>` | The parameter or field is missing, malformed or out of range. |',
    ...Object.entries(problems).map(([code, [status, condition]]) => `| ${status} | \`${code}\` | ${condition} |`),
  ].join('\n')
}
