import type { FastifyRequest } from 'fastify'
import { mediaTypes, type RowFormat, tableFormats } from '../../schema/rowFormat.ts'

/**
 * Selects the format of a response: the parameter `format`, else the supported media type with the highest weight in
 * `Accept` (the first among equals), else JSON.
 * @param formats the endpoint's formats other than JSON
 * @returns undefined for JSON
 */
export function negotiateFormat<Format extends RowFormat>(
  formats: readonly Format[],
  format: Format | 'json' | undefined,
  accept: string | undefined,
): Format | undefined {
  if (format !== undefined) return format === 'json' ? undefined : format
  let best: { format: Format | undefined; weight: number } = { format: undefined, weight: 0 }
  for (const range of accept?.split(',') ?? []) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const found = formats.find((name) => mediaTypes[name] === type)
    const isJson = ['application/json', 'application/*', '*/*'].includes(type)
    const weight = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    if ((found || isJson) && weight > best.weight) best = { format: found, weight }
  }
  return best.format
}

/** Whether the client requests a table as CSV. */
export function wantsCsv({ headers }: FastifyRequest, format: 'csv' | 'json' | undefined): boolean {
  return negotiateFormat(tableFormats, format, headers.accept) === 'csv'
}
