// @module-tag all
// @module-tag postgres

import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { readMigrations } from '../../../src/stores/migrations/files.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { describeClickHouse, describePostgres } from './describeSchema.ts'

const stores = useTestStores()
// Other versions of the servers write the same schema in other words, so the embedded engines are described.
const { clickhouseUrl, databaseUrl } = inject('engines')

/**
 * The checksums of the files of releases, without comments. Every store that ran a file refuses a program with another
 * checksum. A release adds its new files here.
 */
const released: Record<string, string> = {
  'clickhouse/0001_baseline.sql': '0de70621e26ccd95ebd35d2f1407c49bf73f6defa1bd8e21e8a2d578ff26b7bf',
  'postgres/0001_baseline.sql': '588f01746c1efcbced2b051ddd7e3578803e7a26245e6ad2bcca0d860a8d013b',
}

it('no file of a release has changed', async () => {
  const found: Record<string, string> = {}
  for (const store of ['clickhouse', 'postgres'] as const) {
    for (const { name, checksum } of await readMigrations(packageRoot, store)) {
      if (`${store}/${name}` in released) found[`${store}/${name}`] = checksum
    }
  }
  expect(found, 'These files are part of a release: restore them, and add a numbered file instead.').toEqual(released)
})

it('every file says which versions may read and write its result', async () => {
  for (const store of ['clickhouse', 'postgres'] as const) {
    for (const { name, sql } of await readMigrations(packageRoot, store)) {
      for (const use of ['readable', 'writable'])
        expect(sql, `${store}/${name}`).toMatch(new RegExp(`^-- ${use} from: \\d+\\.\\d+\\.\\d+$`, 'm'))
    }
  }
})

it.skipIf(databaseUrl)('the embedded Postgres stays on the major version of 1.0', async () => {
  // Another one does not open the folder of a store.
  const [row] = await stores.postgres`SHOW server_version`
  expect(row?.server_version).toMatch(/^18\./)
})

it.skipIf(clickhouseUrl)('a migrated store has the tables of clickhouse/schema.sql', async () => {
  const schema = await describeClickHouse(stores.clickhouse)
  await expect(schema).toMatchFileSnapshot(join(packageRoot, 'clickhouse/schema.sql'))
})

it.skipIf(databaseUrl)('a migrated store has the tables of postgres/schema.sql', async () => {
  const schema = await describePostgres(stores.postgres)
  await expect(schema).toMatchFileSnapshot(join(packageRoot, 'postgres/schema.sql'))
})
