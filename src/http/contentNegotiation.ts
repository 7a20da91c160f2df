import Negotiator from 'negotiator'
import { mediaTypes, type RowFormat } from '../../schema/rowFormat.ts'
import { acceptMax } from './contentCoding.ts'

/**
 * Selects the format of a response: the parameter `format`, else the supported media type with the highest weight in
 * `Accept` (among equals the most specific, then the first one), else JSON.
 * @param formats the endpoint's formats other than JSON
 * @returns undefined for JSON
 */
export function negotiateFormat<Format extends RowFormat>(
  formats: readonly Format[],
  format: Format | 'json' | undefined,
  accept: string | undefined,
): Format | undefined {
  if (format !== undefined) return format === 'json' ? undefined : format
  if (accept === undefined) return undefined
  const offered = new Map<string, Format | undefined>([
    [offeredType('application/json'), undefined],
    ...formats.map((name) => [offeredType(mediaTypes[name]), name] as const),
  ])
  const negotiator = new Negotiator({ headers: { accept: accept.slice(0, acceptMax) } })
  const chosen = negotiator.mediaType([...offered.keys()])
  return chosen === undefined ? undefined : offered.get(chosen)
}

/** With the parameters that a client may name; a range with another one does not match. */
const offeredType = (mediaType: string): string => `${mediaType}; charset=utf-8; header=present`
