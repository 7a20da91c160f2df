import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'

/** Result of reading a whole list. */
export interface ListRead {
  seconds: number
  megabytes: number
  /** Undefined where rows do not end with line feeds. */
  rows: number | undefined
}

/**
 * Reads a whole list from the API.
 * @param url with the parameter `format`
 * @throws Error when the status is not 200
 */
export async function readList(url: string, key: string, encoding = 'identity'): Promise<ListRead> {
  const startedMs = performance.now()
  const headers = { authorization: `ApiKey ${key}`, 'accept-encoding': encoding }
  const sent = request(url, { headers }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  if (response.statusCode !== 200) throw new Error(`${url}: ${response.statusCode}`)
  return await drain(response, startedMs, url.includes('format=ndjson') && encoding === 'identity')
}

/** Reads a stream to its end; counts line feeds if each ends a row. */
export async function drain(stream: IncomingMessage, startedMs: number, isLines: boolean): Promise<ListRead> {
  let bytes = 0
  let rows = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (isLines) for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1
  }
  return { seconds: (performance.now() - startedMs) / 1000, megabytes: bytes / 1e6, rows: isLines ? rows : undefined }
}
