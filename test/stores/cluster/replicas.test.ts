import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { assertClusterTopology } from '../../../src/stores/clickhouse/cluster.ts'
import { replicatedStatement } from '../../../src/stores/clickhouse/replicatedTables.ts'
import { readMigrations, splitStatements } from '../../../src/stores/migrations/files.ts'

const path = `'/clickhouse/tables/{shard}/{database}/{table}', '{replica}'`

describe('a statement on replicas', () => {
  it('creates replicated tables for every engine', () => {
    for (const isFirst of [true, false]) {
      expect(
        replicatedStatement('CREATE TABLE IF NOT EXISTS a (b Int)\nENGINE = ReplacingMergeTree\nORDER BY b', isFirst),
      ).toBe(`CREATE TABLE IF NOT EXISTS a (b Int)\nENGINE = ReplicatedReplacingMergeTree(${path})\nORDER BY b`)
      expect(
        replicatedStatement('CREATE TABLE a (b Int)\nENGINE = SummingMergeTree((b, c))\nORDER BY b', isFirst),
      ).toBe(`CREATE TABLE a (b Int)\nENGINE = ReplicatedSummingMergeTree(${path}, (b, c))\nORDER BY b`)
    }
  })

  it('syncs fetched rows to disk where a server syncs inserted rows', () => {
    const statement = (settings: string) =>
      `CREATE TABLE a (b Int)\nENGINE = ReplacingMergeTree\nORDER BY b\nSETTINGS ${settings}`
    expect(replicatedStatement(statement('fsync_after_insert = 1, a = 2'), true)).toContain(
      'fsync_after_insert = 1, min_compressed_bytes_to_fsync_after_fetch = 1, a = 2',
    )
    expect(replicatedStatement(statement('a = 2'), true)).not.toContain('fetch')
  })

  it('inserts and changes rows on the first one only, and leaves other statements unchanged', () => {
    for (const rows of [
      'INSERT INTO a SELECT 1',
      'ALTER TABLE a\n    MATERIALIZE INDEX b',
      'ALTER TABLE a CLEAR COLUMN IF EXISTS b',
      '-- why\nINSERT INTO a VALUES (1)',
    ]) {
      expect([replicatedStatement(rows, true), replicatedStatement(rows, false)]).toEqual([rows, undefined])
    }
    for (const tables of [
      'CREATE MATERIALIZED VIEW a TO b AS SELECT 1',
      'ALTER TABLE a ADD COLUMN b Int',
      'DROP TABLE a',
    ]) {
      expect([replicatedStatement(tables, true), replicatedStatement(tables, false)]).toEqual([tables, tables])
    }
  })

  it('is rejected when its kind is unknown', () => {
    expect(() => replicatedStatement('OPTIMIZE TABLE a FINAL', true)).toThrow('no rule for replicas fits')
    expect(() => replicatedStatement('CREATE TABLE a (b Int) ENGINE = MergeTree ORDER BY b', true)).toThrow(
      'on a line of its own',
    )
  })

  it('is of a known kind in every migration', async () => {
    const all = (await readMigrations(packageRoot, 'clickhouse')).flatMap(({ sql }) => splitStatements(sql))
    expect(all.length).toBeGreaterThan(15)
    for (const statement of all) {
      const made = replicatedStatement(statement, true) ?? ''
      expect(made.match(/MergeTree/g)?.length).toBe(made.match(/Replicated\w*MergeTree/g)?.length)
    }
  })
})

describe('the nodes of a cluster', () => {
  const nodes = (shards: number[], replicas: string[]) =>
    [
      shards.map((shardNumber, n) => ({ host: `h${n}`, shardNumber })),
      shards.map((shardNumber, n) => ({ host: `h${n}`, shard: `${shardNumber}`, replica: replicas[n] ?? '' })),
    ] as const

  it('are pairs of replicas where their macros say so, and no replicas elsewhere', () => {
    expect(assertClusterTopology('x', ...nodes([1, 1, 2, 2], ['a', 'b', 'a', 'b']))).toBe(true)
    expect(assertClusterTopology('x', ...nodes([1, 2], []))).toBe(false)
  })

  it('are rejected where the replicas of a shard might disagree', () => {
    expect(() => assertClusterTopology('x', ...nodes([1, 1, 1], ['a', 'b', 'c']))).toThrow(
      'a shard has 3 replicas, 2 are supported',
    )
    expect(() => assertClusterTopology('x', ...nodes([1, 1], []))).toThrow('replicas need them on all')
    expect(() => assertClusterTopology('x', ...nodes([1, 1], ['a']))).toThrow('1 of its 2 nodes have the macros')
  })
})
