import { type Agent, request } from 'node:http'

export interface Request {
  method: 'GET' | 'POST'
  path: string
  key: string
  body?: string
  contentType?: string
}

export interface Response {
  status: number
  body: string
  retryAfter: string | undefined
}

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
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', () => resolve(undefined))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body: text, retryAfter: response.headers['retry-after'] })
      })
    })
    const timer = setTimeout(() => outgoing.destroy(), timeoutMs)
    outgoing.on('close', () => clearTimeout(timer))
    outgoing.on('error', () => resolve(undefined))
    outgoing.end(body)
  })
}
