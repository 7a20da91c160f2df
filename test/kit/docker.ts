import type { StartedNetwork } from 'testcontainers'
import { usersXml } from '../../src/stores/embedded/clickhouse/users.ts'
import { accessTo, administrator, type ClickHouseServer, createDatabases, documentedUsers } from './clickhouseServer.ts'
import { freePort } from './serverProcess.ts'
import { holds, until } from './until.ts'

// Loading testcontainers takes a second, and most processes that may start a container start none.
const loadTestcontainers = () => import('testcontainers')

export const clickHouseImage = 'clickhouse/clickhouse-server:26.7'

export async function isDockerAvailable(): Promise<boolean> {
  try {
    await (await loadTestcontainers()).getContainerRuntimeClient()
    return true
  } catch {
    return false
  }
}

const keeperXml = `<clickhouse>
  <listen_host>0.0.0.0</listen_host>
  <keeper_server>
    <tcp_port>9181</tcp_port>
    <server_id>1</server_id>
    <coordination_settings><min_session_timeout_ms>1000</min_session_timeout_ms></coordination_settings>
    <raft_configuration><server><id>1</id><hostname>keeper</hostname><port>9234</port></server></raft_configuration>
  </keeper_server>
</clickhouse>`

/**
 * Starts ClickHouse Keeper, and servers that reach it and each other by the names `keeper` (port 9181), `node-0`, `node-1` …
 * @param xmlOf the configuration of a node beyond its users and ports
 */
export async function startReplicaContainers(count: number, xmlOf: (index: number) => string) {
  const { Network } = await loadTestcontainers()
  const network = await new Network().start()
  const keeper = await startServer(network, 'keeper', { 'config.d/keeper.xml': keeperXml })
  // Docker forwards requests of this machine from another address.
  const users = usersXml([administrator, ...(await documentedUsers(true))]).replaceAll('<ip>127.0.0.1<', '<ip>::/0<')
  const starting = Array.from({ length: count }, (_, index) => {
    const host = `<listen_host>0.0.0.0</listen_host><interserver_http_host>node-${index}</interserver_http_host>`
    const xml = `<clickhouse>${host}${xmlOf(index)}</clickhouse>`
    return startServer(network, `node-${index}`, { 'users.xml': users, 'config.d/replica.xml': xml })
  })
  const nodes = await Promise.all(starting)
  await Promise.all(nodes.map((node) => createDatabases(node)))
  return {
    keeper,
    nodes,
    async close(): Promise<void> {
      await Promise.all([keeper, ...nodes].map((one) => one.close()))
      await network.stop()
    },
  }
}

/** @param files of `/etc/clickhouse-server` */
async function startServer(network: StartedNetwork, name: string, files: Record<string, string>) {
  const { GenericContainer, getContainerRuntimeClient, Wait } = await loadTestcontainers()
  // A port that Docker chooses would be another one after a restart.
  const port = await freePort()
  const contents = Object.entries(files).map(([file, content]) => ({
    content,
    target: `/etc/clickhouse-server/${file}`,
  }))
  const started = await new GenericContainer(clickHouseImage)
    .withNetwork(network)
    .withNetworkAliases(name)
    .withExposedPorts({ container: 8123, host: port })
    .withCopyContentToContainer(contents)
    .withWaitStrategy(Wait.forHttp('/ping', 8123))
    .start()
  const container = (await getContainerRuntimeClient()).container.getById(started.getId())
  let { Pid: pid } = (await container.inspect()).State
  let ended = container.wait()
  const server: ClickHouseServer = {
    ...accessTo(port),
    port,
    get pid() {
      return pid
    },
    get ended() {
      return ended
    },
    fatalErrors: async () => [],
    async start() {
      await container.start()
      pid = (await container.inspect()).State.Pid
      ended = container.wait()
      await until(() => holds(() => createDatabases(server)), 60_000)
    },
    stop: async () => void (await container.stop()),
    kill: async () => void (await container.kill()),
    pause: () => void container.pause(),
    resume: () => void container.unpause(),
    close: async () => void (await started.stop()),
  }
  return Object.assign(server, {
    async loseDisk(): Promise<void> {
      await started.exec(['sh', '-c', 'rm -rf /var/lib/clickhouse/*'])
      await container.kill()
    },
  })
}
