import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { scopes } from '../schema/scopes.ts'
import { createKey } from '../src/accounts/manageKeys.ts'
import { packageRoot } from '../src/package.ts'
import { readSettings } from '../src/settings/settings.ts'
import { migrate } from '../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../src/stores/open.ts'
import { type Program, startProgram, stopPrograms } from './processes.ts'

/** Stores of a benchmark. */
export interface BenchStores extends Stores {
  dataDir: string
  /** The environment of programs that use these stores. */
  environment: NodeJS.ProcessEnv
}

/** Folder of generated rows, which later runs reuse. */
export const cacheFolder = join(packageRoot, 'bench/.cache')

/**
 * Opens migrated stores on a folder; stops all programs and closes the stores when the work has ended.
 * @param folder undefined for a temporary one, which is removed
 * @param settings in addition to the folder
 */
export async function withStores(
  folder: string | undefined,
  work: (stores: BenchStores) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<void> {
  const dataDir = folder ?? (await mkdtemp(join(tmpdir(), 'tributary-bench-')))
  await mkdir(dataDir, { recursive: true })
  const environment = { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', ...settings }
  const stores = await openStores(readSettings(environment), ({ message }) => console.error(message))
  try {
    await migrate(stores)
    await work({ ...stores, dataDir, environment: { ...process.env, ...environment } })
  } finally {
    await stopPrograms()
    await stores.close()
    if (folder === undefined) await removeFolder(dataDir)
  }
}

/** The engines write files until two seconds after the last process has closed its stores. */
export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
}

/** The options of `npm start` and the image. */
const nodeFlags = ['--max-semi-space-size=32', '--heap-growing-percent=100']

/** The options of deploy/tributary-feed.service. */
const feedFlags = ['--max-semi-space-size=16', '--heap-growing-percent=50']

/** Starts the server on the stores. */
export async function serve({ environment }: BenchStores): Promise<Program> {
  return await startProgram([...nodeFlags, join(packageRoot, 'dist/src/main.js'), 'serve', '--json'], environment)
}

/** Starts `tributary feed` on the stores. */
export async function startFeed({ environment }: BenchStores): Promise<Program> {
  return await startProgram([...feedFlags, join(packageRoot, 'dist/src/main.js'), 'feed', '--json'], environment)
}

/**
 * Starts a server whose present time is the end of the generated rows.
 * @returns its URL without and with the response cache of `serve`
 */
export async function serveAtEnd({
  environment,
}: BenchStores): Promise<{ uncached: string; cached: string; pid: number }> {
  const { line, pid } = await startProgram(['--import', 'tsx', join(packageRoot, 'bench/readsServer.ts')], environment)
  const [uncached = '', cached = ''] = line.split(' ')
  return { uncached, cached, pid }
}

/** Creates a key of an account with all scopes. */
export async function openKey({ postgres }: Stores, accountId: string): Promise<string> {
  const created = await createKey(postgres, { accountId, name: 'bench', scopes, expiresAt: null })
  if (!created) throw new Error(`The account ${accountId} is missing.`)
  return created.key
}

/** Reads rows; numbers of 64 bits are numbers. */
export async function select<Row>({ clickhouse }: Stores, query: string, params: object = {}): Promise<Row[]> {
  const response = await clickhouse.client.query({
    query,
    query_params: params as Record<string, unknown>,
    format: 'JSONEachRow',
    clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
  })
  return await response.json<Row>()
}

/** @returns the number of rows of a table, of one account or all */
export async function countOf(stores: Stores, table: string, accountId?: string): Promise<number> {
  const condition = accountId === undefined ? '' : ' WHERE account_id = {accountId:String}'
  const [row] = await select<{ rows: number }>(stores, `SELECT count() AS rows FROM ${table}${condition}`, {
    accountId,
  })
  return row?.rows ?? 0
}

/** Waits until the background merges and mutations after a fill have finished. */
export async function settled(stores: Stores): Promise<void> {
  const query = `
    SELECT (SELECT count() FROM system.merges) + (SELECT count() FROM system.mutations WHERE NOT is_done) AS running`
  while ((await select<{ running: number }>(stores, query))[0]?.running !== 0) await sleep(500)
}
