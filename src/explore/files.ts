import { TributaryError } from '../packages/client/client.ts'
import { type ApiRequest, baseUrl } from './request.ts'

/** The address of a request; it can be quoted with `'` in a shell. */
function requestUrl({ path, query }: ApiRequest): string {
  const defined = Object.entries(query).filter(([, value]) => value !== undefined)
  return `${baseUrl}/api/v1${path}?${new URLSearchParams(defined)}`.replaceAll('%2C', ',')
}

/** A command that sends a request with the key of the environment variable TRIBUTARY_KEY. */
export function curlOf(request: ApiRequest): string {
  return `curl -s -H "Authorization: ApiKey $TRIBUTARY_KEY" '${requestUrl(request)}'`
}

/**
 * Requests a file of the API.
 * @param format parameters of the format of the file
 * @throws TributaryError; the error of `fetch` if there is no response
 */
export async function readFile(apiKey: string, { path, query }: ApiRequest, format: object): Promise<Blob> {
  const address = requestUrl({ path, query: { ...query, ...format } })
  const response = await fetch(address, { headers: { authorization: `ApiKey ${apiKey}` } })
  if (response.ok) return await response.blob()
  throw new TributaryError(response.status, await response.json().catch(() => ({})))
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
