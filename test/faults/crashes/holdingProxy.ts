import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/** What a proxy holds back. */
export interface Hold {
  /** Matches the bytes of the request; called for each chunk that a client sends until it matches. */
  request: Pick<RegExp, 'test'>
  /**
   * `request`: the whole request; `body`: only the body of an HTTP request; `response`: the response, so that the store
   * executes the request.
   */
  holds: 'request' | 'body' | 'response'
}

/** A TCP proxy in front of a store. It forwards everything except one request or response, which it holds. */
export interface HoldingProxy {
  readonly port: number
  /** Holds the next request that matches, or its response. Resolves when it is held. */
  hold(hold: Hold): Promise<void>
  /** Forwards what is held and everything after it. */
  release(): void
  close(): Promise<void>
}

/** The message Flush of Postgres: the client waits for the parameter types of a statement before it executes it. */
const postgresFlush = Buffer.from([0x48, 0, 0, 0, 4])

/** @param target port or Unix socket path of the store */
export async function openHoldingProxy(target: NetConnectOpts): Promise<HoldingProxy> {
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
    hold: (hold) =>
      new Promise((reached) => {
        wanted = { ...hold, reached }
      }),
    release() {
      wanted = undefined
      forward()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
