import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyReply, FastifyRequest, LightMyRequestResponse } from 'fastify'
import { Problem } from '../problem.ts'
import type { App } from './context.ts'

const outer = new AsyncLocalStorage<FastifyRequest>()

/** The request for which this process calls a route itself; undefined during a request of a client. */
export const outerRequest = (): FastifyRequest | undefined => outer.getStore()

/**
 * Calls a route for a request whose key is known and counted: with its caller, address and id, and without its headers. Scope, parameters,
 * read slot, cache and log are those of the route. A disconnection of the client ends the read.
 * @throws Problem `unavailable` when the server is shutting down, or the client has disconnected
 */
export async function callRoute(app: App, reply: FastifyReply, url: string): Promise<LightMyRequestResponse> {
  const { request } = reply
  const refuse = () => {
    throw new Problem('unavailable', 'The server is shutting down; retry.', { retryAfterS: 1 })
  }
  const call = () => app.inject({ url, remoteAddress: request.ip, signal: disconnection(reply) })
  return await outer.run(request, async () => await call().catch(refuse))
}

/** TRAP: `request.signal` of a POST aborts as soon as its body was read. */
function disconnection({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController()
  // Bound: the hooks of the route, which the end of the read runs, ask for the outer request.
  const end = AsyncLocalStorage.bind(() => {
    if (!raw.writableFinished) controller.abort()
  })
  if (raw.destroyed) end()
  else raw.once('close', end)
  return controller.signal
}
