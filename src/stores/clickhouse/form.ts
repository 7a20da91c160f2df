import { randomUUID } from 'node:crypto'
import type { Statement, WrittenParameter } from './sql.ts'

/** A statement and its parameters as a form: ClickHouse rejects a URL above 1 MiB, and a proxy a shorter one. */
export function formOf({ text, params }: Statement) {
  // Random for each statement, so that no value can contain it.
  const boundary = randomUUID()
  const field = (name: string, value: string | Buffer) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`,
    value,
    '\r\n',
  ]
  const fields = Object.entries(params).map(([name, value]) =>
    field(`param_${name}`, isWritten(value) ? value.written : parameterText(value)),
  )
  const parts = [...fields, field('query', text), [`--${boundary}--\r\n`]].flat()
  return {
    body: Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  }
}

/** Writes a value as ClickHouse reads a parameter; an array inside an array is a tuple. */
export function parameterText(value: Exclude<Statement['params'][string], WrittenParameter>): string {
  return Array.isArray(value) ? `[${value.map(element).join(',')}]` : withEscapes(String(value))
}

function isWritten(value: Statement['params'][string]): value is WrittenParameter {
  return typeof value === 'object' && 'written' in value
}

function element(value: string | number | readonly string[]): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? `'${withEscapes(value)}'` : `(${value.map(element).join(',')})`
}

const escapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', "'": "\\'", '\\': '\\\\' }

const withEscapes = (value: string) => value.replace(/[\t\n\r'\\]/g, (character) => escapes[character] ?? character)
