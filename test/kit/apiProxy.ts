import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type HttpServer, openHttpServer } from './httpServer.ts'

interface ProxyOptions {
  /** Called before a request is forwarded, with its path and query. */
  before?(path: string): unknown
  /** Answers the client. The response of the server is not compressed. */
  answer?(outgoing: ServerResponse, response: IncomingMessage, path: string): unknown
}

/** Opens a proxy in front of a server that need not run: a request to a server that does not listen is reset. */
export function openApiProxy(baseUrl: string, { before, answer = forward }: ProxyOptions): Promise<HttpServer> {
  return openHttpServer(async (incoming, outgoing) => {
    const { method, url = '' } = incoming
    await before?.(url)
    const headers = { ...incoming.headers, 'accept-encoding': 'identity' }
    const forwarded = request(`${baseUrl}${url}`, { method, headers }, (response) => answer(outgoing, response, url))
    forwarded.on('error', () => outgoing.destroy())
    outgoing.on('close', () => forwarded.destroy())
    incoming.pipe(forwarded)
  })
}

export function forward(outgoing: ServerResponse, response: IncomingMessage): void {
  outgoing.writeHead(response.statusCode ?? 0, response.headers)
  response.pipe(outgoing)
  for (const failure of ['error', 'aborted']) response.on(failure, () => outgoing.destroy())
}
