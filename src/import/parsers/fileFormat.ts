export const delimiters = [',', ';', '\t'] as const
export type Delimiter = (typeof delimiters)[number]

export interface FileFormat {
  isCsv: boolean
  isGzipped: boolean
  /** Of CSV; absent: recognized by the header. */
  delimiter?: Delimiter
}

/**
 * Returns the format by the extension of a file, in upper or lower case. All JSON formats have one object per line.
 * @returns undefined for other extensions; NDJSON for `-`, a standard stream
 */
export function formatOf(file: string): FileFormat | undefined {
  if (file === '-') return { isCsv: false, isGzipped: false }
  const [, extension, gz] = /\.(ndjson|jsonl|json|csv|tsv)(\.gz)?$/i.exec(file) ?? []
  if (extension === undefined) return undefined
  const isTsv = extension.toLowerCase() === 'tsv'
  return { isCsv: /sv$/i.test(extension), isGzipped: gz !== undefined, ...(isTsv && { delimiter: '\t' as const }) }
}

/** A file cannot be read in its format, so none of its rows is; the message says what the file is or has: `its header …`. */
export class FormatError extends Error {
  override name = 'FormatError'
}
