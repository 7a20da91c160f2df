import { type Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

export type Request = { method: 'GET' | 'POST'; path: string; key: string; body?: string; contentType?: string }

export type Response = { status: number; body: string; retryAfter: string | undefined }

const timeoutMs = 45_000

/** Sends a request over a connection of the agent. @returns undefined when the connection broke or the timeout expired */
export function sendRequest(
  agent: Agent,
  { port }: { port: number },
  { method, path, key, body, contentType = 'application/json' }: Request,
): Promise<Response | undefined> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `ApiKey ${key}`,
      ...(body !== undefined && { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
    }
    const outgoing = request({ agent, port, method, path, headers }, (response) => {
      const { statusCode: status = 0, headers } = response
      const received = text(response).then((body) => ({ status, body, retryAfter: headers['retry-after'] }))
      resolve(received.catch(() => undefined))
    })
    const timer = setTimeout(() => outgoing.destroy(), timeoutMs)
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('error', () => resolve(undefined))
    outgoing.end(body)
  })
}
