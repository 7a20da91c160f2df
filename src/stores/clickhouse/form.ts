import { randomUUID } from 'node:crypto'
import type { Statement, WrittenParameter } from './sql.ts'

/**
 * A statement and its parameters as a form: ClickHouse rejects a URL above 1 MiB, and a proxy a shorter one.
 * @returns its body: parts, which are not copied into one because they may be long, and the last part, mostly the only one
 */
export function formOf({ text, params }: Statement) {
  // Random for each statement, so that no value can contain it.
  const boundary = randomUUID()
  const parts: Buffer[] = []
  let line = ''
  const add = (name: string, value: string | Buffer) => {
    line += `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`
    if (typeof value === 'string') line += value
    else {
      parts.push(Buffer.from(line), value)
      line = ''
    }
    line += '\r\n'
  }
  for (const [name, value] of Object.entries(params)) {
    const isWritten = typeof value === 'object' && 'written' in value
    add(`param_${name}`, isWritten ? value.written : parameterText(value))
  }
  add('query', text)
  const last = Buffer.from(`${line}--${boundary}--\r\n`)
  return { parts, last, headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } }
}

/** Writes a value as ClickHouse reads a parameter; an array inside an array is a tuple. */
export function parameterText(value: Exclude<Statement['params'][string], WrittenParameter>): string {
  return Array.isArray(value) ? `[${value.map(element).join(',')}]` : withEscapes(String(value))
}

function element(value: string | number | readonly string[]): string {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' ? `'${withEscapes(value)}'` : `(${value.map(element).join(',')})`
}

const escapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', "'": "\\'", '\\': '\\\\' }

const withEscapes = (value: string) => value.replace(/[\t\n\r'\\]/g, (character) => escapes[character] ?? character)
