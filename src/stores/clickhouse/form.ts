import { randomUUID } from 'node:crypto'
import type { Statement } from './sql.ts'

/** A statement and its parameters as a form: ClickHouse rejects a URL above 1 MiB, and a proxy a shorter one. */
export function formOf({ text, params }: Statement) {
  // Random for each statement, so that no value can contain it.
  const boundary = randomUUID()
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const fields = Object.entries(params).map(([name, value]) => field(`param_${name}`, parameterText(value)))
  return {
    body: `${fields.join('')}${field('query', text)}--${boundary}--\r\n`,
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  }
}

/** Writes a value as ClickHouse reads a parameter; an array inside an array is a tuple. */
function parameterText(value: Statement['params'][string]): string {
  return Array.isArray(value) ? `[${value.map(element).join(',')}]` : withEscapes(String(value))
}

function element(value: string | number | readonly string[]): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? `'${withEscapes(value)}'` : `(${value.map(element).join(',')})`
}

const escapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', "'": "\\'", '\\': '\\\\' }

function withEscapes(value: string): string {
  return value.replace(/[\t\n\r'\\]/g, (character) => escapes[character] ?? character)
}
