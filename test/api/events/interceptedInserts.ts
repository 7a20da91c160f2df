import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ClickHouseClient } from '@clickhouse/client'
import type { ClickHouse } from '../../../src/stores/cluster/connection.ts'

type Exec = ClickHouseClient['exec']

export interface Insert {
  queryId: string | undefined
  /** The rows, hexadecimal. */
  bytes: string
  signal: AbortSignal
  store(): Promise<void>
}

/** A ClickHouse with inserts of events that a test can observe and break. */
export interface InterceptedInserts {
  clickhouse: ClickHouse
  sent: Insert[]
  /** Takes the next inserts instead of ClickHouse, one each. What a handler throws is what the sender gets. */
  handlers: ((insert: Insert) => Promise<void>)[]
}

/** The error of a connection that breaks before the response has arrived. */
export const connectionReset = () => Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })

export async function storeAndBreak(insert: Insert): Promise<void> {
  await insert.store()
  throw connectionReset()
}

export async function hang({ signal }: Insert): Promise<void> {
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
}

/** Puts itself between a sender of events and the real ClickHouse. */
export function interceptInserts(clickhouse: ClickHouse): InterceptedInserts {
  const sent: Insert[] = []
  const handlers: InterceptedInserts['handlers'] = []

  async function exec(params: Parameters<Exec>[0]): ReturnType<Exec> {
    const { exec: execForReal } = Object.getPrototypeOf(client) as ClickHouseClient
    if (!params.query.startsWith('INSERT INTO pixel_events ')) return execForReal.call(clickhouse.client, params)
    // Every insert has values; the driver's types allow a statement without.
    const { values, abort_signal: signal, ...rest } = params as typeof params & { values: Readable }
    const bytes = await buffer(values)
    const sendIt = async () =>
      await clickhouse.client.exec({ ...rest, values: Readable.from([bytes], { objectMode: false }) })
    const insert: Insert = {
      queryId: params.query_id,
      bytes: bytes.toString('hex'),
      signal: signal ?? new AbortController().signal,
      store: async () => void (await buffer((await sendIt()).stream)),
    }
    sent.push(insert)
    await handlers.shift()?.(insert)
    return await sendIt()
  }

  const client = Object.create(clickhouse.client, { exec: { value: exec } }) as ClickHouseClient
  return { clickhouse: Object.create(clickhouse, { client: { value: client } }) as ClickHouse, sent, handlers }
}
