// @module-tag long

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync, constants } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../../src/stores/open.ts'
import { runHere, runJson } from '../cli/runCommand.ts'
import { useFolder, useTestStores } from '../kit/fixtures.ts'
import { apply, life } from '../properties/lives.ts'
import { contentOf } from '../writer/retention/retainedAccount.ts'
import { readResponses, type StoreRecord, storeFolder, storesFolder } from './storeRecord.ts'

const { clickhouseUrl, databaseUrl } = inject('engines')
// No version has been released before 1.0.
const versions = existsSync(storesFolder) ? await readdir(storesFolder) : []
const bytesMax = 3 << 20

it('the stores of releases are small', async () => {
  for (const version of versions) {
    expect((await stat(join(storeFolder(version), 'store.tar.br'))).size).toBeLessThan(bytesMax)
  }
})

// A store of the embedded engines.
describe.skipIf(clickhouseUrl || databaseUrl).each(versions)('the store of version %s', (version) => {
  const folder = useFolder()
  const target = useTestStores()
  const environment = () => ({ DATA_DIR: folder('data') })
  let record: StoreRecord
  let stores: Stores

  beforeAll(async () => {
    const { BROTLI_DECODER_PARAM_LARGE_WINDOW } = constants
    const compressed = await readFile(join(storeFolder(version), 'store.tar.br'))
    const tar = brotliDecompressSync(compressed, { params: { [BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 } })
    await mkdir(folder('data'))
    execFileSync('tar', ['--extract', '--directory', folder('data')], { input: tar })
    record = JSON.parse(await readFile(join(storeFolder(version), 'record.json'), 'utf8'))
    stores = await openStores(readSettings(environment()), () => {})
    await migrate(stores)
  })
  afterAll(() => stores.close())

  it('has the numbers that were recorded with it, for its keys, and no differences after its import has been completed', async () => {
    const settings = readSettings(environment())
    const app = await buildApp({ settings, stores, now: Date.now })
    for (const [account, key] of Object.entries(record.keys)) {
      expect(await readResponses(app, key)).toEqual(record.responses[account])
    }
    await app.close()
    expect(await runHere(['verify'], environment())).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^An import into account third was interrupted; .*\n$/),
    })
    expect(await runHere(['verify', '--repair'], environment())).toMatchObject({ code: 0 })
    expect((await runJson(['verify'], environment())).differences).toEqual([])
  })

  it('has an account that gets the same rows from later changes as its copy, which this version imports', async () => {
    await runJson(['account', 'import', join(storeFolder(version), 'account')], target.environment)
    expect(await contentOf(target, 'first')).toEqual(await contentOf(stores, 'first'))
    const [steps = []] = fc.sample(life, { numRuns: 1, seed: 12 })
    for (const step of steps) {
      expect([step, await apply({ stores: target }, 'first', step)]).toEqual([
        step,
        await apply({ stores }, 'first', step),
      ])
    }
    expect(await contentOf(target, 'first')).toEqual(await contentOf(stores, 'first'))
    expect((await runJson(['verify'], target.environment)).differences).toEqual([])
    expect((await runJson(['verify'], environment())).differences).toEqual([])
  })
})
