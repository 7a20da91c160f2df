import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'

/** What reading a whole list took. */
export interface ListRead {
  seconds: number
  megabytes: number
  /** Undefined where line feeds do not end rows. */
  rows: number | undefined
}

/**
 * Reads a whole list from the API.
 * @param address of the server and the path, with `format`
 * @throws Error when the status is not 200
 */
export async function readList(address: string, key: string, encoding = 'identity'): Promise<ListRead> {
  const startedMs = performance.now()
  const headers = { authorization: `ApiKey ${key}`, 'accept-encoding': encoding }
  const asked = request(address, { headers }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  if (answer.statusCode !== 200) throw new Error(`${address}: ${answer.statusCode}`)
  return await drain(answer, startedMs, address.includes('format=ndjson') && encoding === 'identity')
}

/** Reads to the end; counts line feeds where each ends a row. */
export async function drain(stream: IncomingMessage, startedMs: number, isLines: boolean): Promise<ListRead> {
  let bytes = 0
  let rows = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (isLines) for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) rows += 1
  }
  return { seconds: (performance.now() - startedMs) / 1000, megabytes: bytes / 1e6, rows: isLines ? rows : undefined }
}
