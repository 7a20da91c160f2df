import { GenericContainer, Wait } from 'testcontainers'

export interface Containers {
  clickhouseUrl: string
  databaseUrl: string
  stop(): Promise<void>
}

/** Starts containers of the production servers for this run of the suite. */
export async function startContainers(): Promise<Containers> {
  const [clickhouse, postgres] = await Promise.all([
    new GenericContainer('clickhouse/clickhouse-server:26.7')
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
