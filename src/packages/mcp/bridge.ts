import type { Readable, Writable } from 'node:stream'
import { readText } from 'tributary-client'

interface Message {
  id?: string | number
  method?: string
  params?: { name?: string; requestId?: string | number; _meta?: Record<string, unknown> }
}

/**
 * Sends each message of a client to the API, and each response back, until the input ends; requests that run then are still answered.
 * `notifications/cancelled` ends a request. What the messages say is a matter of the server, in any version of the protocol.
 */
export async function bridge(baseUrl: string, apiKey: string, input: Readable, output: Writable): Promise<void> {
  const url = `${baseUrl.replace(/\/$/, '')}/api/v1/mcp`
  const running = new Map<unknown, AbortController>()
  // Without a reader, no response is of use. TRAP: standard output emits an error for each write.
  output.on('error', () => {
    for (const controller of running.values()) controller.abort()
  })

  async function pass(line: string): Promise<void> {
    const message = parse(line)
    if (message?.method === 'notifications/cancelled') return running.get(message.params?.requestId)?.abort()
    // A batch or a response has no method: it is refused, without an id.
    const id = message?.method === undefined ? null : message.id
    const controller = new AbortController()
    running.set(id, controller)
    const response = await post(url, apiKey, message, line, controller.signal).catch(({ cause, message }: Error) => {
      return failure(`${url} is not reachable: ${cause instanceof Error ? cause.message : message}`)
    })
    running.delete(id)
    if (id !== undefined && !controller.signal.aborted) output.write(`${JSON.stringify({ ...response, id })}\n`)
  }

  const passed = new Set<Promise<void>>()
  const receive = (line: string) => {
    const one = pass(line).finally(() => passed.delete(one))
    passed.add(one)
  }
  let rest = ''
  // TRAP: `readline` of Node.js 24 also ends lines at U+2028, which JSON does not escape.
  for await (const text of input.setEncoding('utf8')) {
    const lines = `${rest}${text}`.split('\n')
    rest = lines.pop() ?? ''
    lines.forEach(receive)
  }
  if (rest.trim() !== '') receive(rest)
  await Promise.all(passed)
}

/** @returns the response without line breaks; an error of the API as an error of JSON-RPC */
async function post(url: string, apiKey: string, message: Message | undefined, body: string, signal: AbortSignal) {
  if (!message) return failure('The line is not JSON.', -32700)
  const { method = '', params } = message
  const version = params?._meta?.['io.modelcontextprotocol/protocolVersion']
  // The versions that name themselves in each message repeat it in headers.
  const repeated = version !== undefined && {
    'mcp-protocol-version': headerOf(`${version}`),
    'mcp-method': headerOf(method),
    ...(params?.name !== undefined && { 'mcp-name': headerOf(params.name) }),
  }
  const accepted = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const headers = { authorization: `ApiKey ${apiKey}`, ...accepted, ...repeated }
  const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  const text = await readText(response)
  const answer = parse(text)
  const said = response.headers.get('location') ?? text.slice(0, 1_000)
  return answer && 'jsonrpc' in answer ? answer : failure(`${url} responded with ${response.status}: ${said}`)
}

/** Text that is not plain is sent in Base64. */
const headerOf = (text: string): string =>
  /^[\x21-\x7e]+$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`

function parse(text: string): Message | undefined {
  try {
    return Object(JSON.parse(text))
  } catch {
    return undefined
  }
}

const failure = (message: string, code = -32000) => ({ jsonrpc: '2.0', error: { code, message } })
