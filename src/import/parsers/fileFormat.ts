/** Separates the cells of a CSV record. */
export const delimiters = [',', ';', '\t'] as const
export type Delimiter = (typeof delimiters)[number]

/** Format of a file of rows. */
export interface FileFormat {
  isCsv: boolean
  isGzipped: boolean
  /** Of CSV; absent: recognized by the header. */
  delimiter?: Delimiter
}

const formats: Readonly<Record<string, Omit<FileFormat, 'isGzipped'>>> = {
  ndjson: { isCsv: false },
  jsonl: { isCsv: false },
  json: { isCsv: false },
  csv: { isCsv: true },
  tsv: { isCsv: true, delimiter: '\t' },
}

/**
 * Returns the format by the extension of a file, in upper or lower case. All JSON formats have one object per line.
 * @returns undefined for other extensions; NDJSON for `-`, a standard stream
 */
export function formatOf(file: string): FileFormat | undefined {
  if (file === '-') return { isCsv: false, isGzipped: false }
  const [, extension = '', gz] = /\.(ndjson|jsonl|json|csv|tsv)(\.gz)?$/i.exec(file) ?? []
  const format = formats[extension.toLowerCase()]
  return format && { ...format, isGzipped: gz !== undefined }
}
