/** Format of a file of rows. */
export interface FileFormat {
  isCsv: boolean
  isGzipped: boolean
}

/** @returns the format by file name; `-` is NDJSON on a standard stream; undefined for other extensions */
export function formatOf(file: string): FileFormat | undefined {
  if (file === '-') return { isCsv: false, isGzipped: false }
  const [, extension, gz] = /\.(ndjson|csv)(\.gz)?$/.exec(file) ?? []
  return extension === undefined ? undefined : { isCsv: extension === 'csv', isGzipped: gz !== undefined }
}
