import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'
import type { CrashStores } from './crashStores.ts'

export interface Hold {
  /** Matches the bytes of the request; called for each chunk that a client sends until it matches. */
  request: Pick<RegExp, 'test'>
  /** `request`: the whole request; `body`: only the body of an HTTP request; `response`: the response, so that the store executes the request. */
  holds: 'request' | 'body' | 'response'
}

/** Opens proxies in front of the stores, for one client process: of each node of ClickHouse, and of Postgres. */
export async function openStoreProxies({ environment, nodes, postgresAddress }: CrashStores) {
  const [first, ...others] = nodes
  const open = ({ port }: { port: number }) => openHoldingProxy({ port, host: '127.0.0.1' })
  const proxies = [await open(first), ...(await Promise.all(others.map(open)))] as const
  const postgres = await openHoldingProxy(postgresAddress)
  const proxied = (urls: string) =>
    nodes.reduce((text, { port }, index) => text.replace(`:${port}`, `:${proxies[index]?.port}`), urls)
  const settings: Record<string, string> = {
    ...environment,
    CLICKHOUSE_URL: proxied(environment.CLICKHOUSE_URL),
    ...(environment.CLICKHOUSE_NODES && { CLICKHOUSE_NODES: proxied(environment.CLICKHOUSE_NODES) }),
    DATABASE_URL: `postgres://postgres@127.0.0.1:${postgres.port}/${environment.DATABASE_URL?.replace(/^.*[/]/, '') ?? 'postgres'}`,
  }
  return {
    nodes: proxies,
    postgres,
    environment: settings,
    async close(): Promise<void> {
      await Promise.all([...proxies, postgres].map((proxy) => proxy.close()))
    },
  }
}

/** The message Flush of Postgres: the client waits for the parameter types of a statement before it executes it. */
const postgresFlush = Buffer.from([0x48, 0, 0, 0, 4])

/**
 * Opens a TCP proxy in front of a store. It forwards everything except one request or response, which it holds.
 * @param target port or Unix socket path of the store
 */
async function openHoldingProxy(target: NetConnectOpts) {
  const sockets = new Set<Socket>()
  let wanted: (Hold & { reached: () => void }) | undefined
  let forward = () => {}

  /** Forwards the chunks of one socket to another. @returns a function that starts to hold chunks back and calls `reached` at the next one */
  function pipe(from: Socket, to: Socket, inspect: (chunk: Buffer) => Buffer = (chunk) => chunk) {
    let held: Buffer[] | undefined
    let onHeld = () => {}
    sockets.add(from)
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    from.on('data', (chunk) => {
      const forwarded = held ? chunk.subarray(0, 0) : inspect(chunk)
      to.write(forwarded)
      held?.push(chunk.subarray(forwarded.length))
      if (held) onHeld()
    })
    return (reached: () => void) => {
      held = []
      onHeld = reached
      forward = () => {
        for (const chunk of held ?? []) to.write(chunk)
        held = undefined
      }
    }
  }

  const server = createServer((client) => {
    const store = connect(target)
    const holdResponse = pipe(store, client)
    /** Called when the client executes the described statement. */
    let onExecution: (() => void) | undefined
    const holdRequest = pipe(client, store, (chunk) => {
      if (onExecution) {
        onExecution()
        onExecution = undefined
      }
      if (!wanted?.request.test(chunk.toString('latin1'))) return chunk
      const { holds, reached } = wanted
      wanted = undefined
      if (holds === 'response') {
        if (chunk.subarray(-postgresFlush.length).equals(postgresFlush)) onExecution = () => holdResponse(reached)
        else holdResponse(reached)
        return chunk
      }
      holdRequest(reached)
      return chunk.subarray(0, holds === 'body' ? chunk.indexOf('\r\n\r\n') + 4 : 0)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** Holds the next request that matches, or its response. Resolves when it is held. */
    hold: (hold: Hold) =>
      new Promise<void>((reached) => {
        wanted = { ...hold, reached }
      }),
    release(): void {
      wanted = undefined
      forward()
    },
    async close(): Promise<void> {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
