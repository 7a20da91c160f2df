/** What a file of rows is, as its name says. */
export interface FileFormat {
  isCsv: boolean
  isGzipped: boolean
}

/** @returns what FILE is by its name, `-` being NDJSON on a standard stream; undefined for any other ending */
export function formatOf(file: string): FileFormat | undefined {
  if (file === '-') return { isCsv: false, isGzipped: false }
  const [, kind, gz] = /\.(ndjson|csv)(\.gz)?$/.exec(file) ?? []
  return kind === undefined ? undefined : { isCsv: kind === 'csv', isGzipped: gz !== undefined }
}
