// @module-tag all
// @module-tag postgres

import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { useTestStores } from '../../kit/fixtures.ts'
import { describeClickHouse, describePostgres } from './describeSchema.ts'

// Other versions of the servers write the same schema in other words, so the embedded engines are described.
const { clickhouseUrl, databaseUrl } = inject('engines')

describe('a migrated store', () => {
  const stores = useTestStores()

  it.skipIf(clickhouseUrl)('has the tables of clickhouse/schema.sql', async () => {
    const schema = await describeClickHouse(stores.clickhouse)
    await expect(schema).toMatchFileSnapshot(join(packageRoot, 'clickhouse/schema.sql'))
  })

  it.skipIf(databaseUrl)('has the tables of postgres/schema.sql', async () => {
    const schema = await describePostgres(stores.postgres)
    await expect(schema).toMatchFileSnapshot(join(packageRoot, 'postgres/schema.sql'))
  })
})
