import { TributaryError } from '../packages/client/client.ts'
import { openRetries } from '../packages/client/retries.ts'
import { type ApiRequest, baseUrl } from './request.ts'

/** The address of a request; it can be quoted with `'` in a shell. */
function requestUrl({ path, query }: ApiRequest): string {
  const defined = Object.entries(query).filter(([, value]) => value !== undefined)
  return `${baseUrl}/api/v1${path}?${new URLSearchParams(defined)}`.replaceAll('%2C', ',')
}

/** A command that sends a request with the key of the environment variable TRIBUTARY_KEY. */
export const curlOf = (request: ApiRequest): string =>
  `curl -s -H "Authorization: ApiKey $TRIBUTARY_KEY" '${requestUrl(request)}'`

/**
 * Requests a file of the API, with the rows of all pages that its header `Link` leads to. Each page is a Blob, which the browser
 * may move to its disk.
 * @param format parameters of the format of the file
 * @param onPage called after each page but the last one, with the number of all rows
 * @returns the file, and the number of all rows if the API lists fewer
 * @throws TributaryError; the error of `fetch` if there is no response
 */
export async function readFile(
  apiKey: string,
  { path, query }: ApiRequest,
  format: { totals?: true | undefined },
  onPage: (page: number, rowCount: number) => void,
): Promise<{ file: Blob; truncatedOf: number | undefined }> {
  const { fetchStream } = openRetries({})
  const headers = { authorization: `ApiKey ${apiKey}` }
  const parts: Blob[] = []
  for (let address = requestUrl({ path, query: { ...query, ...format } }); ; ) {
    const response = await fetchStream(new Request(address, { headers }))
    if (!response.ok) throw new TributaryError(response.status, await response.json().catch(() => ({})))
    const next = /^<([^>]*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    const rowCount = Number(response.headers.get('x-bucket-count'))
    if (next || parts.length > 0) {
      const text = await response.text()
      // Each page has a line of names, and a line of totals at its end.
      const begin = parts.length > 0 ? text.indexOf('\n') + 1 : 0
      const end = next && format.totals ? text.lastIndexOf('\n', text.length - 2) + 1 : text.length
      parts.push(new Blob([text.slice(begin, end)]))
    } else parts.push(await response.blob())
    if (!next) {
      const isTruncated = response.headers.get('x-truncated') === 'true'
      return { file: new Blob(parts, { type: 'text/csv' }), truncatedOf: isTruncated ? rowCount : undefined }
    }
    onPage(parts.length, rowCount)
    // A proxy may serve the API below a path of its own, which the link lacks.
    address = `${baseUrl}/api/v1${path}${new URL(next, baseUrl).search}`
  }
}

/** A CSV file. Texts that a spreadsheet would read as formulas get a `'`, as with `csv_escape=formulas` of the API. */
export function csvOf(rows: readonly (readonly (string | number | null)[])[]): Blob {
  const cell = (value: string | number | null) => {
    const text = typeof value === 'string' ? value.replace(/^[=+\-@\t\r]/, "'$&") : `${value ?? ''}`
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return new Blob([rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')], { type: 'text/csv' })
}

export function save(file: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // Some browsers begin to read it after this call.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}
