import type { IncomingHttpHeaders } from 'node:http'
import { type ClickHouseClient, parseError } from '@clickhouse/client'

type Statement = Parameters<ClickHouseClient['exec']>[0]

/**
 * Runs a statement that writes, and waits until ClickHouse has finished it.
 * TRAP: with progress headers the status 200 is sent before the statement ends. A failure after ten
 * seconds is in a later header and in the body, which the driver's own `command` and `insert` do not read.
 * @throws ClickHouseError, or an error of the connection
 */
export async function execute(client: ClickHouseClient, statement: Statement): Promise<void> {
  const response = await client.exec(statement)
  const chunks: Buffer[] = []
  for await (const chunk of response.stream) chunks.push(chunk as Buffer)
  const headers = response.response_headers as IncomingHttpHeaders
  if (headers['x-clickhouse-exception-code']) throw parseError(Buffer.concat(chunks).toString().trim())
}
