import { ClickHouseError } from '@clickhouse/client'
import type { Client } from './client.ts'
import { keepAliveSettings } from './client.ts'
import { type Damage, DamagedData } from './damagedData.ts'
import { selectRows } from './select.ts'
import { ch, type Fragment, identifier, text } from './sql.ts'

/** A part that is damaged, at the node of a client. */
export interface DamagedPart extends Damage {
  client: Client
  name: string
}

/** What ClickHouse writes around the message of an error. */
const frame = /^Code: \d+\. DB::\w+: |( in data part .*|\. \(\w+\) \(version .*)$/g

/**
 * TRAP: ClickHouse does not sync the files of a projection to disk, so a power cut may break one. It then reads the rows, which are whole:
 * it reports a projection after it has compared all other files.
 */
const brokenProjection = / has broken projection /

/**
 * Reads every file of all tables, and compares it with its checksum.
 * @param clients of the nodes
 * @param timeoutS limit for each table; 0: none
 * @throws ClickHouseError without the grant CHECK; Problem `query_timeout`
 */
export async function* findDamagedParts(clients: readonly Client[], timeoutS: number, signal?: AbortSignal) {
  const settings = { ...keepAliveSettings, max_execution_time: timeoutS, check_query_single_value_result: 0 } as const
  const options = { label, settings, ...(signal && { signal }) }
  for (const client of clients) {
    const select = <Row>(query: Fragment) => selectRows<Row>({ reader: client }, query, options)
    const tables = await select<{ name: string }>(
      ch`SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' ORDER BY name`,
    )
    for (const { name: table } of tables) {
      const parts = await select<{ part_path: string; is_passed: number; message: string }>(
        ch`CHECK TABLE ${identifier(table)}`,
      )
      const isDamaged = (part: (typeof parts)[number]) => part.is_passed === 0 && !brokenProjection.test(part.message)
      for (const { part_path: name, message } of parts.filter(isDamaged)) {
        const place = ch`database = currentDatabase() AND table = ${text(table)} AND name = ${text(name)}`
        const [found] = await select<{ path: string }>(ch`SELECT path FROM system.parts WHERE ${place}`)
        yield { client, table, name, path: found?.path ?? name, reason: message.replaceAll(frame, '') }
      }
    }
  }
}

/** @returns whether rows of an account are in the part, or may be, since it cannot be read */
export async function mayHaveRowsOf(accountId: string, { client, table, name }: DamagedPart): Promise<boolean> {
  const place = ch`account_id = ${text(accountId)} AND _part = ${text(name)}`
  try {
    const query = ch`SELECT 1 FROM ${identifier(table)} WHERE ${place} LIMIT 1`
    return (await selectRows({ reader: client }, query, { label })).length > 0
  } catch (error) {
    // A table of the migrations has no accounts.
    if (error instanceof DamagedData || error instanceof ClickHouseError) return true
    throw error
  }
}

const label = 'damage'
