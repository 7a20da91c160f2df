import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

/** Characters of a result: about 15,000 tokens. */
export const textMax = 50_000

/** @param more a hint how to get the rest */
export function result(text: string, more: string | undefined): CallToolResult {
  return {
    content: [text, more].flatMap((part) => (part === undefined ? [] : [{ type: 'text' as const, text: part }])),
  }
}

export function failure(message: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: message }] }
}
