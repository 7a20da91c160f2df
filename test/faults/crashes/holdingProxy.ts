import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/** Where a proxy stops the traffic of a connection. */
export interface Hold {
  /** Recognizes the request by a part of what the client sends. */
  request: RegExp
  /**
   * What is kept back: the whole request; of an HTTP request only its body; or the response, so that the request is
   * carried out.
   */
  keeps: 'request' | 'body' | 'response'
}

/** A TCP proxy in front of a store: it passes everything on, but for one request or response that it holds. */
export interface HoldingProxy {
  readonly port: number
  /** Holds the first request of that kind, or its response. @returns what resolves when it is held */
  hold(hold: Hold): Promise<void>
  /** Passes on what is held, and everything that comes after it. */
  release(): void
  close(): Promise<void>
}

/** Postgres' message Flush: the client asks what a statement's parameters are, and executes it once it knows. */
const postgresFlush = Buffer.from([0x48, 0, 0, 0, 4])

/** @param target the store, by port or by the path of a Unix socket */
export async function openHoldingProxy(target: NetConnectOpts): Promise<HoldingProxy> {
  const sockets = new Set<Socket>()
  let wanted: (Hold & { reached: () => void }) | undefined
  let pass = () => {}

  /** @returns what passes on the chunks of one socket to another, and what is called instead when they are kept back */
  function pipe(from: Socket, to: Socket, inspect: (chunk: Buffer) => Buffer = (chunk) => chunk) {
    let kept: Buffer[] | undefined
    let onKept = () => {}
    sockets.add(from)
    from.on('error', () => {})
    from.on('close', () => {
      sockets.delete(from)
      to.destroy()
    })
    from.on('data', (chunk) => {
      const passing = kept ? chunk.subarray(0, 0) : inspect(chunk)
      to.write(passing)
      kept?.push(chunk.subarray(passing.length))
      if (kept) onKept()
    })
    return (reached: () => void) => {
      kept = []
      onKept = reached
      pass = () => {
        for (const chunk of kept ?? []) to.write(chunk)
        kept = undefined
      }
    }
  }

  const server = createServer((client) => {
    const store = connect(target)
    const keepResponse = pipe(store, client)
    /** Called once the statement, which has been described, is to be executed. */
    let onExecution: (() => void) | undefined
    const keepRequest = pipe(client, store, (chunk) => {
      if (onExecution) {
        onExecution()
        onExecution = undefined
      }
      if (!wanted?.request.test(chunk.toString('latin1'))) return chunk
      const { keeps, reached } = wanted
      wanted = undefined
      if (keeps === 'response') {
        if (chunk.subarray(-postgresFlush.length).equals(postgresFlush)) onExecution = () => keepResponse(reached)
        else keepResponse(reached)
        return chunk
      }
      keepRequest(reached)
      return chunk.subarray(0, keeps === 'body' ? chunk.indexOf('\r\n\r\n') + 4 : 0)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    hold: (hold) =>
      new Promise((reached) => {
        wanted = { ...hold, reached }
      }),
    release() {
      wanted = undefined
      pass()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
