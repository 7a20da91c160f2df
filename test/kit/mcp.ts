import type { App } from '../../src/http/context.ts'

export type Arguments = Record<string, unknown>

/** Sends a message of the Model Context Protocol. */
export async function sendMcp(app: App, key: string, message: unknown, headers: Record<string, string> = {}) {
  const payload = typeof message === 'string' ? message : JSON.stringify(message)
  return await app.inject({
    method: 'POST',
    url: '/api/v1/mcp',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    payload,
  })
}

export interface ToolResult {
  isError: boolean
  /** The response, then the GET that reproduces it, then how to get more. */
  texts: string[]
}

/** @param result of `tools/call` */
export function toolResult({ isError = false, content }: { [name: string]: unknown }): ToolResult {
  return { isError: isError === true, texts: (content as { text: string }[]).map(({ text }) => text) }
}

/** Calls a tool. @throws Error with the body when the response is not a result */
export async function callTool(app: App, key: string, name: string, given: Arguments = {}): Promise<ToolResult> {
  const params = { name, arguments: given }
  const { body } = await sendMcp(app, key, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const { result } = JSON.parse(body)
  if (!result) throw new Error(body)
  return toolResult(result)
}

/** The path below /api/v1 that a result names. */
export const reproduced = ({ texts }: ToolResult): string =>
  /^Reproduce: GET \S+?\/api\/v1(\S*)$/m.exec(texts[1] ?? '')?.[1] ?? ''

export interface Table {
  /** What the response says beside its rows; the whole response if it has no rows. */
  head: Record<string, unknown>
  /** The values of each row by the name of their column, as text; absent values are not there. */
  rows: Record<string, string>[]
}

/** Parses the text of a result by its rules alone, as a program would. */
export function parseTable(text = ''): Table {
  const [head = '', names = '', ...lines] = text.split('\n')
  const columns = cellsOf(names)
  const rows = lines.map((line) => {
    const cells = cellsOf(line).map((cell, at) => [columns[at], cell] as const)
    return Object.fromEntries(cells.filter(([, cell]) => cell !== undefined))
  })
  return { head: JSON.parse(head), rows }
}

/** A cell is empty, a value of JSON that begins with a quote or a bracket, or plain text up to the next comma. */
function cellsOf(line: string): (string | undefined)[] {
  const cells: (string | undefined)[] = []
  for (let rest = line; ; ) {
    const length = /^["[{]/.test(rest) ? lengthOfJson(rest) : /^[^,]*/.exec(rest)?.[0].length
    const cell = rest.slice(0, length)
    const value = /^["[{]/.test(cell) ? JSON.parse(cell) : cell
    cells.push(cell === '' ? undefined : typeof value === 'string' ? value : JSON.stringify(value))
    if (cell.length === rest.length) return cells
    rest = rest.slice(cell.length + 1)
  }
}

function lengthOfJson(text: string): number {
  let depth = 0
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    depth += /^[[{]/.test(token) ? 1 : /^[\]}]/.test(token) ? -1 : 0
    if (depth === 0) return index + token.length
  }
  return text.length
}

/** A row of a response as a table has it. */
export function flatRow(row: object, prefix = ''): Record<string, string> {
  const entries = Object.entries(row).flatMap(([name, value]): [string, string][] => {
    if (value === null) return []
    const isObject = typeof value === 'object' && !Array.isArray(value) && name !== 'properties'
    if (isObject) return Object.entries(flatRow(value, `${prefix}${name}.`))
    return [[prefix + name, typeof value === 'object' ? JSON.stringify(value) : `${value}`]]
  })
  return Object.fromEntries(entries)
}
