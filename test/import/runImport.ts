import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount, findAccount } from '../../src/accounts/accounts.ts'
import type { RejectLimit } from '../../src/import/options.ts'
import { formatOf } from '../../src/import/parsers/fileFormat.ts'
import type { Reject } from '../../src/import/rejects.ts'
import type { ImportName } from '../../src/import/resourceNames.ts'
import { importRows } from '../../src/import/run.ts'
import { emptyTally, type Tally } from '../../src/import/tally.ts'
import type { Stores } from '../../src/stores/open.ts'
import { retryWhileUnavailable } from '../../src/stores/timing/retry.ts'

export interface Imported extends Tally {
  rejects: Reject[]
  said: string[]
}

export interface ImportOptions {
  /** File name; its extension gives the format. */
  name?: string
  nowMs?: number
  signal?: AbortSignal
  rejectLimit?: RejectLimit
  onMessage?: (line: string) => void
  statementWindowMs?: number
}

export async function makeAccount({ postgres }: Pick<Stores, 'postgres'>, currency = 'USD'): Promise<string> {
  const account = await createAccount(postgres, { name: 'Test', plan: 'scale', currency })
  if (!account) throw new Error('no account')
  return account.id
}

export async function importContent(
  stores: Pick<Stores, 'clickhouse' | 'postgres'>,
  accountId: string,
  resource: ImportName,
  content: readonly object[] | string | Buffer,
  {
    name = 'rows.ndjson',
    nowMs = Date.UTC(2026, 10, 21),
    signal = new AbortController().signal,
    rejectLimit,
    onMessage = () => {},
    statementWindowMs,
  }: ImportOptions = {},
): Promise<Imported> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-import-'))
  try {
    const file = join(folder, name)
    const rejects = join(folder, 'rejects')
    await writeFile(
      file,
      Array.isArray(content) ? content.map((row) => `${JSON.stringify(row)}\n`).join('') : (content as string),
    )
    const format = formatOf(file)
    const account = await retryWhileUnavailable('reading the account', () => findAccount(stores.postgres, accountId))
    if (!format || !account) throw new Error(`${name} into ${accountId}`)
    const tally = emptyTally()
    const said: string[] = []
    const hear = (line: string) => {
      said.push(line)
      onMessage(line)
    }
    const source = { path: file, format }
    const options = {
      resource,
      account,
      source,
      rejects,
      nowMs,
      statementWindowMs,
      ...(rejectLimit && { rejectLimit }),
    }
    await importRows(stores, options, tally, { onMessage: hear, signal, onProgress: () => {} })
    const rejected = await readFile(rejects, 'utf8').catch(() => '')
    return {
      ...tally,
      said,
      rejects: rejected
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Reject),
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Runs a SELECT and returns its rows; whole numbers are numbers, decimals are text. */
export async function rowsOf<Row>({ clickhouse }: Pick<Stores, 'clickhouse'>, query: string): Promise<Row[]> {
  const response = await clickhouse.client.query({
    query,
    format: 'JSONEachRow',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0, output_format_json_quote_decimals: 1 },
  })
  return await response.json<Row>()
}
