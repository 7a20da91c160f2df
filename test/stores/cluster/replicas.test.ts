// @module-tag all

import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { chooseServer, newReplicasOf, quorumOf, replicaSettings } from '../../../src/stores/cluster/chooseServer.ts'
import { assertClusterTopology } from '../../../src/stores/cluster/cluster.ts'
import { assertReplicasKnown } from '../../../src/stores/cluster/replicas.ts'
import { replicatedStatement } from '../../../src/stores/cluster/replicatedTables.ts'
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

  it('inserts and changes rows on the first one only, and leaves other statements unchanged', () => {
    for (const rows of [
      'INSERT INTO a SELECT 1',
      'ALTER TABLE a\n    MATERIALIZE INDEX b',
      'ALTER TABLE a CLEAR COLUMN IF EXISTS b',
      '-- why\nINSERT INTO a VALUES (1)',
    ])
      expect([replicatedStatement(rows, true), replicatedStatement(rows, false)]).toEqual([rows, undefined])
    for (const tables of [
      'CREATE MATERIALIZED VIEW a TO b AS SELECT 1',
      'ALTER TABLE a ADD COLUMN b Int',
      'DROP TABLE a',
    ])
      expect([replicatedStatement(tables, true), replicatedStatement(tables, false)]).toEqual([tables, tables])
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

describe('the server of an instance', () => {
  const complete = { hasTables: true, isMigrated: true, isForgotten: false, delayS: 0, eventsSinceMs: 0 }
  const behind = { ...complete, delayS: 7 }
  const filling = { ...complete, isMigrated: false, delayS: 7 }
  const empty = { ...complete, hasTables: false, isMigrated: false }
  const forgotten = { ...complete, isForgotten: true }
  const server = (url: string, state = complete, failure?: string) => ({ url, shard: '1', state, failure })
  const dead = (url: string, state = complete) => server(url, state, 'refused')

  it.each([
    ['is the one of the settings', server('a'), server('b'), 'a', 'a'],
    ['is another one while that one is dead', dead('a'), server('b'), 'a', 'b'],
    [
      'is another one, also if that has rows to fetch, while that one is dead',
      dead('a'),
      server('b', behind),
      'a',
      'b',
    ],
    [
      'is kept while the one of the settings has rows to fetch after it was dead',
      server('a', behind),
      server('b'),
      'b',
      'b',
    ],
    ['is kept while it has rows to fetch', server('a', behind), server('b'), 'a', 'a'],
    ['is the one of the settings again when that one has all rows', server('a'), server('b', behind), 'b', 'a'],
    ['is not one that is being filled', server('a', filling), server('b', behind), 'a', 'b'],
    ['is not one without tables', server('a', empty), server('b'), 'a', 'b'],
    ['is not one that Keeper does not know', server('a', forgotten), server('b'), 'a', 'b'],
    ['is one without tables before the first migration', dead('a', empty), server('b', empty), 'a', 'b'],
    ['is kept while none responds', dead('a'), dead('b'), 'b', 'b'],
  ] as const)('%s', (_name, one, other, present, expected) => {
    expect(chooseServer([one, other], 'a', present)).toBe(expected)
  })

  it('reads no replica that is being filled, and does not wait for a dead one', () => {
    const read = (delayMax: string, fallback: number) =>
      expect.objectContaining({
        max_replica_delay_for_distributed_queries: delayMax,
        fallback_to_stale_replicas_for_distributed_queries: fallback,
      })
    expect(replicaSettings([server('a'), server('b')], 'a')).toEqual(read('1', 1))
    expect(replicaSettings([server('a', behind), dead('b')], 'a')).toEqual(read('0', 1))
    expect(replicaSettings([server('a'), server('b', filling)], 'a')).toEqual(read('1', 0))
    expect(replicaSettings([server('a'), { ...dead('b'), shard: '2' }], 'a')).toEqual(read('1', 1))
    expect(replicaSettings([server('a'), { ...dead('b'), shard: '' }], 'a')).toEqual(read('0', 1))
    expect(replicaSettings([server('a'), dead('b')], 'http://balancer')).toEqual(read('0', 1))
  })

  it('a write needs both replicas, unless each shard has one left', () => {
    const quorums = [
      [2, 1],
      [3, 2],
      [4, 2],
      [1, 1],
    ].map(([count = 0, shards = 0]) => quorumOf({ nodes: Array(count), shards }))
    expect(quorums).toEqual(['2', '2', '2', '0'])
  })

  it('a replica is new if another one of its shard has been migrated', () => {
    const [old, added, lonely] = [server('a'), server('b', empty), { ...server('c', empty), shard: '2' }]
    expect(newReplicasOf([old, added, lonely, dead('d', empty)])).toEqual([[added, old]])
  })

  it('while one has not said which events it is storing, no row is listed or looked up as final', () => {
    expect(() => assertReplicasKnown([server('a'), dead('b')])).not.toThrow()
    const named = { ...dead('b'), state: undefined }
    expect(() => assertReplicasKnown([server('a'), named])).toThrow('A replica of ClickHouse has not responded yet.')
  })
})
