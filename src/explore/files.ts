import { openRetries } from '../packages/client/retries.ts'
import { numberFormat } from './formatters.ts'
import { type ApiRequest, baseUrl, requestUrl, send } from './request.ts'

/** The decimal sign of the browser, if files can have it. */
export const ownDecimal = numberFormat({}).format(1.5).includes(',') ? 'comma' : 'point'

/** A row of a file that the page makes: values by column, of the same columns in all rows. */
export type FileRow = Readonly<Record<string, string | number | null | undefined>>

/** Without it, Excel does not read a file as UTF-8. */
const byteOrderMark = '\uFEFF'

/** A command that sends a request with the key of the environment variable TRIBUTARY_KEY. */
export const curlOf = (request: ApiRequest): string =>
  `curl -s -H "Authorization: ApiKey $TRIBUTARY_KEY" '${requestUrl(request)}'`

/**
 * Requests a file of the API, with the rows of all pages that its header `Link` leads to. Each page is a Blob, which the browser
 * may move to its disk.
 * @param hasComma as of `csvOf`
 * @returns the file, and the number of all rows if the API lists fewer
 * @throws as `send`
 */
export async function readFile(apiKey: string, { path, query }: ApiRequest, hasComma: boolean) {
  const { fetchStream } = openRetries({})
  const allRows = { format: 'csv', csv_escape: 'formulas', limit: undefined, offset: undefined }
  const format = { ...allRows, csv_decimal: hasComma ? 'comma' : undefined, totals: path === '/reports' || undefined }
  const parts: Blob[] = []
  for (let address = requestUrl({ path, query: { ...query, ...format } }); ; ) {
    const response = await send(fetchStream, apiKey, address)
    const next = /^<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    // Only reports have pages.
    if (next || parts.length > 0) {
      const text = await response.text()
      // Each page has a line of names, and a line of totals at its end.
      const begin = parts.length > 0 ? text.indexOf('\n') + 1 : 0
      const end = next ? text.lastIndexOf('\n', text.length - 2) + 1 : text.length
      parts.push(new Blob([text.slice(begin, end)]))
    } else parts.push(await response.blob())
    if (!next) {
      const isTruncated = response.headers.get('x-truncated') === 'true'
      return { file: csvFile(parts), truncatedOf: isTruncated && Number(response.headers.get('x-bucket-count')) }
    }
    // A proxy may serve the API below a path of its own, which the link lacks.
    address = `${baseUrl}/api/v1${path}${new URL(next, baseUrl).search}`
  }
}

const csvFile = (parts: (Blob | string)[]) => new Blob([byteOrderMark, ...parts], { type: 'text/csv' })

/** A CSV file, as the API writes it with `csv_escape=formulas`, and with `csv_decimal=comma` if it `hasComma`. */
export function csvOf(rows: readonly FileRow[], hasComma: boolean): Blob {
  const cell = (value: FileRow[string]) => {
    if (typeof value === 'string') return `"${value.replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`
    return `${value ?? ''}`.replace('.', hasComma ? ',' : '.')
  }
  const lines = [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
  return csvFile(lines.map((values) => `${values.map(cell).join(hasComma ? ';' : ',')}\n`))
}

export function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // Some browsers begin to read it after this call.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
