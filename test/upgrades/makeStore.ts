// Makes the store that the upgrade tests open for ever, once for each release: .ci/release runs it.
// It has random lives of accounts, an import that was killed, and a removed month. Beside it are the responses of this version,
// and an exported account.
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import fc from 'fast-check'
import { buildApp } from '../../src/app.ts'
import { runCommand } from '../../src/cli/program.ts'
import { version } from '../../src/package.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { lockFile } from '../../src/stores/embedded/fileLock.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores } from '../../src/stores/open.ts'
import { makeAccountWithKey } from '../kit/accounts.ts'
import { interceptClickHouse } from '../kit/interceptedClickHouse.ts'
import { apply, life } from '../properties/lives.ts'
import { readResponses, type StoreRecord, storeFolder } from './storeRecord.ts'

const accounts = ['first', 'second', 'third']
const work = await mkdtemp(join(tmpdir(), 'tributary-store-'))
const dataDir = join(work, 'data')
const settings = readSettings({ DATA_DIR: dataDir, LOG_LEVEL: 'silent' })
const stores = await openStores(settings, () => {})
await migrate(stores)

const record: StoreRecord = { version, keys: {}, responses: {} }
for (const [index, steps] of fc.sample(life, { numRuns: accounts.length, seed: 10 }).entries()) {
  const account = accounts[index] ?? ''
  record.keys[account] = (await makeAccountWithKey(stores, account)).key
  for (const step of steps) await apply({ stores }, account, step)
}
await killImport()
const app = await buildApp({ settings, stores, now: Date.now })
for (const [account, key] of Object.entries(record.keys)) record.responses[account] = await readResponses(app, key)
await app.close()
await stores.close()

const folder = storeFolder(version)
// An earlier run may have failed.
await rm(folder, { recursive: true, force: true })
await mkdir(folder, { recursive: true })
const words = ['account', 'export', '--account', 'first', '--output', join(folder, 'account')]
const code = await runCommand(words, {
  environment: { DATA_DIR: dataDir },
  stdout: process.stdout,
  stderr: process.stderr,
})
if (code !== 0) throw new Error('The account was not exported.')
// The engines have ended when the lock is free.
if (!(await lockFile(join(dataDir, 'run', 'supervisor.lock'), 30_000))) throw new Error('The engines did not end.')
const names = ['clickhouse', 'postgres']
execFileSync('tar', ['--create', '--file', join(work, 'store.tar'), '--sort=name', '--directory', dataDir, ...names])
const tar = await readFile(join(work, 'store.tar'))
const { BROTLI_PARAM_LARGE_WINDOW, BROTLI_PARAM_LGWIN, BROTLI_PARAM_SIZE_HINT } = constants
const params = { [BROTLI_PARAM_LARGE_WINDOW]: 1, [BROTLI_PARAM_LGWIN]: 27, [BROTLI_PARAM_SIZE_HINT]: tar.length }
await writeFile(join(folder, 'store.tar.br'), brotliCompressSync(tar, { params }))
await writeFile(join(folder, 'record.json'), `${JSON.stringify(record)}\n`)
await rm(work, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })

/** Leaves a batch in the journal whose rows are not stored, as an import that is killed when it sends them. */
async function killImport(): Promise<void> {
  const [steps = []] = fc.sample(life, { numRuns: 1, seed: 11 })
  const file = steps.find((step) => step.kind === 'file' && step.resource === 'clicks')
  if (file?.kind !== 'file') throw new Error('The life has no clicks.')
  const killed = interceptClickHouse(stores, ({ label }) => {
    if (label === 'insert.clicks') throw new Error('killed')
  })
  await apply({ stores: killed }, 'third', { ...file, lines: file.rows.length }).then(
    () => {
      throw new Error('The import was not killed.')
    },
    () => {},
  )
}
