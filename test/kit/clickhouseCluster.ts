import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type ClickHouseServer, startClickHouse } from './clickhouseServer.ts'
import { freePort } from './serverProcess.ts'

/**
 * Starts two servers that are the shards of one cluster, and waits until they respond. The first one is also the only node of a
 * cluster named `alone`, and the configuration of the second one alone has the cluster `late`.
 * @param isRelayed whether they connect to each other through relays, so that a connection that is reset does not end a node
 */
export async function startCluster({ isRelayed = false } = {}) {
  const ports = [await freePort(), await freePort()] as const
  const relays = isRelayed ? await Promise.all(ports.map(startNodeRelay)) : []
  const shard = (port: number) =>
    `<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`
  /** The cluster as one of its nodes sees it: its own port, and the relay of the other. */
  const clustersOf = (own: number) => {
    const seen = ports.map((port, index) => (index === own ? port : (relays[index]?.port ?? port)))
    return `<remote_servers>
    <pair><secret>of-both</secret>${seen.map(shard).join('')}</pair>
    <alone><secret>of-both</secret>${seen.slice(0, 1).map(shard).join('')}</alone>
    ${own === 1 ? `<late>${seen.map(shard).join('')}</late>` : ''}
  </remote_servers>`
  }
  const start = (tcpPort: number, own: number) => startClickHouse(undefined, { configXml: clustersOf(own), tcpPort })
  const nodes = await Promise.all([start(ports[0], 0), start(ports[1], 1)])
  return {
    nodes,
    /** Environment of a program that uses the cluster. */
    environment: {
      CLICKHOUSE_URL: nodes[0].url('admin'),
      CLICKHOUSE_CLUSTER: 'pair',
      CLICKHOUSE_NODES: nodes.map(({ port }) => `http://127.0.0.1:${port}`).join(','),
    },
    async close(): Promise<void> {
      await Promise.all(nodes.map((node) => node.close()))
      for (const relay of relays) relay.close()
    },
  }
}

/** Reads the rows and a checksum of every table of a node, whatever merges have done. Each node has its own records of migrations. */
export async function contentOfNode({ run }: Pick<ClickHouseServer, 'run'>): Promise<string> {
  const tables = await run(
    'admin',
    "SELECT name FROM system.tables WHERE database = 'tributary_local' AND engine LIKE '%MergeTree' AND name != 'schema_migrations'",
  )
  const sums = tables
    .split('\n')
    .map(
      (table) => `SELECT '${table}', count(), sum(sipHash64(toString(tuple(*)))) FROM tributary_local.${table} FINAL`,
    )
  return await run('admin', `SELECT * FROM (${sums.join(' UNION ALL ')}) ORDER BY 1`)
}

export type KeptNode = ReturnType<typeof keepRunning>

/**
 * Starts a node again whenever it has ended.
 * TRAP: the engine aborts when the other node resets a connection of the native protocol, as it does when it is killed; without
 * a restart each later statement would fail.
 */
export function keepRunning(node: ClickHouseServer) {
  let isStopped = false
  let running = Promise.resolve()
  const watch = async () => {
    for (;;) {
      await node.ended
      if (isStopped) return
      console.error(`ClickHouse on port ${node.port} has ended.`, ...(await node.fatalErrors()).slice(-60))
      running = node.start()
      await running
    }
  }
  void watch()
  return {
    /** Resolves when the node responds, at once unless it is being started. */
    running: () => running,
    stop(): void {
      isStopped = true
    },
  }
}

/**
 * Starts a relay to a port of this machine, which ends connections gracefully: where one side resets a connection, the other side reads the end of the
 * stream. TRAP: the embedded engine aborts when the other node resets a connection of the native protocol.
 */
async function startNodeRelay(targetPort: number) {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (incoming) => {
    const outgoing = connect({ port: targetPort, host: '127.0.0.1', allowHalfOpen: true })
    forward(incoming, outgoing)
    forward(outgoing, incoming)
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket.setNoDelay(true))
      socket.once('close', () => sockets.delete(socket))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close(): void {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** After a failure of `from`, `to` gets the end of the stream, and what it still sends is read and dropped. */
function forward(from: Socket, to: Socket): void {
  from.pipe(to)
  from.on('error', () => {
    to.end()
    to.resume()
  })
}
