import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { GenericContainer, Wait } from 'testcontainers'
import type { TestProject } from 'vitest/node'
import { keepRunning, startCluster } from './clickhouseCluster.ts'
import { clickHouseImage, isDockerAvailable } from './docker.ts'
import { missingPackages } from './isInstalled.ts'
import { startReplicas } from './replicas.ts'

/** The engines of the suite: servers if their URL is set, embedded engines otherwise. */
export interface Engines {
  clickhouseUrl: string | undefined
  clusterEnvironment: Record<string, string>
  databaseUrl: string | undefined
  hasDocker: boolean
  /** The folder that `engineTemplate` fills. */
  template: string
  /** The folder of the copies; removed at the end. */
  copies: string
}

declare module 'vitest' {
  interface ProvidedContext {
    engines: Engines
  }
}

/** Chooses the engines of the suite, and prints the choice. Embedded engines start with the first test file that needs them. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const { CLICKHOUSE_URL, DATABASE_URL, TRIBUTARY_TEST_CLUSTER } = process.env
  const hasDocker = await isDockerAvailable()
  const replicas = TRIBUTARY_TEST_CLUSTER === 'replicas' ? await startReplicas() : undefined
  const shards = !replicas && TRIBUTARY_TEST_CLUSTER ? await startCluster({ isRelayed: true }) : undefined
  const nodes = shards?.nodes.map(keepRunning)
  const cluster = replicas ?? shards
  const isEmbedded = !cluster && !CLICKHOUSE_URL && !DATABASE_URL
  const containers = isEmbedded && hasDocker ? await startContainers() : undefined
  const clickhouseUrl = cluster?.environment.CLICKHOUSE_URL || CLICKHOUSE_URL || containers?.clickhouseUrl
  const { CLICKHOUSE_CLUSTER, CLICKHOUSE_NODES } = cluster?.environment ?? process.env
  const clusterEnvironment = {
    ...(CLICKHOUSE_CLUSTER && { CLICKHOUSE_CLUSTER }),
    ...(CLICKHOUSE_NODES && { CLICKHOUSE_NODES }),
  }
  const databaseUrl = DATABASE_URL || containers?.databaseUrl
  const how = (url: string | undefined) => (url ? (containers ? 'a container' : 'the server given') : 'embedded')
  console.log(
    `Stores: ClickHouse is ${replicas ? 'two replicas' : shards ? 'a cluster of two' : how(clickhouseUrl)}, Postgres is ${how(databaseUrl)}.`,
    `Random cases: TRIBUTARY_TEST_SEED=${process.env.TRIBUTARY_TEST_SEED}.`,
  )

  const missing = `${project.config.tagsFilter}`.includes('!all') ? [] : missingPackages()
  for (const name of missing) console.log(`Skips the tests that need Debian's package ${name}, which is not installed.`)
  if (missing.length > 0 && process.env.TRIBUTARY_TEST_PROGRAMS === 'required') throw new Error('Packages are missing.')

  const copies = await mkdtemp(join(tmpdir(), 'tributary-test-'))
  const template = join(copies, 'template')
  project.provide('engines', { clickhouseUrl, clusterEnvironment, databaseUrl, hasDocker, template, copies })
  return async () => {
    for (const node of nodes ?? []) node.stop()
    await Promise.all([containers?.stop(), cluster?.close()])
    // Engines end two seconds after their last client.
    await rm(copies, { recursive: true, force: true, maxRetries: 40, retryDelay: 250 })
  }
}

async function startContainers() {
  const [clickhouse, postgres] = await Promise.all([
    new GenericContainer(clickHouseImage)
      .withEnvironment({
        CLICKHOUSE_USER: 'test',
        CLICKHOUSE_PASSWORD: 'test',
        CLICKHOUSE_DEFAULT_ACCESS_MANAGEMENT: '1',
      })
      .withExposedPorts(8123)
      .withWaitStrategy(Wait.forHttp('/ping', 8123))
      .start(),
    new GenericContainer('postgres:16')
      .withEnvironment({ POSTGRES_PASSWORD: 'test' })
      .withExposedPorts(5432)
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      .start(),
  ])
  return {
    clickhouseUrl: `http://test:test@${clickhouse.getHost()}:${clickhouse.getMappedPort(8123)}/default`,
    databaseUrl: `postgres://postgres:test@${postgres.getHost()}:${postgres.getMappedPort(5432)}/postgres`,
    async stop() {
      await Promise.all([clickhouse.stop(), postgres.stop()])
    },
  }
}
