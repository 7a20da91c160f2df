import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type ExportedFile, fileOf, Manifest, manifestName } from '../export/accountFolder.ts'
import { FormatError } from '../import/parsers/formatError.ts'
import { jsonInput } from '../import/readers/input.ts'
import type { RawFields } from '../import/readers/rowDecoder.ts'
import { RowError } from '../import/readers/rowError.ts'
import { resourceNames } from '../import/resourceNames.ts'
import { readerOf } from '../import/resources.ts'
import { openSource } from '../import/source.ts'
import { removedSumsCheck, removedTables } from '../writer/retention/removedSums.ts'
import { CommandError } from './errors.ts'
import { readJsonFile } from './readJsonFile.ts'

/**
 * Reads the manifest of a folder of `account export`, and checks every row of its files.
 * @param signal ends the reading
 * @returns the manifest, and the SHA-256 of its file
 * @throws CommandError or SourceError that names the file, and the field or the line
 */
export async function readAccountFolder(
  folder: string,
  signal: AbortSignal,
): Promise<{ manifest: Manifest; sha256: string }> {
  const path = join(folder, manifestName)
  const { value: manifest, text } = await readJsonFile(path, Manifest, 'is no account of this version')
  const contradiction = contradictionIn(manifest)
  if (contradiction) throw new CommandError(`${path} contradicts itself: ${contradiction}.`)
  const { account, files, retained } = manifest
  for (const resource of resourceNames) {
    const read = readerOf(resource, account, true)
    await checkFile(join(folder, fileOf(resource)), files[resource], signal, (fields) => void read(fields, jsonInput))
  }
  for (const table of removedTables) {
    const file = retained.files[table]
    if (!file || retained.clicksFrom === null) continue
    const reasonOf = removedSumsCheck(table, Date.parse(retained.clicksFrom))
    await checkFile(join(folder, fileOf(table)), file, signal, (_fields, text) => {
      const reason = reasonOf(text)
      if (reason !== undefined) throw new RowError(reason)
    })
  }
  return { manifest, sha256: createHash('sha256').update(text).digest('hex') }
}

function contradictionIn({ keys, retained }: Manifest): string | undefined {
  const ids = new Set(keys.map(({ id }) => id))
  if (ids.size < keys.length) return '/keys: two have the same id'
  if (new Set(keys.map(({ hash }) => hash)).size < keys.length) return '/keys: two have the same hash'
  const index = keys.findIndex(({ replacedBy }) => replacedBy !== null && !ids.has(replacedBy))
  if (index !== -1) return `/keys/${index}/replacedBy: is not the id of one of its keys`
  const tables = retained.clicksFrom === null ? [] : removedTables
  const names = Object.keys(retained.files)
  if (names.length === tables.length && tables.every((table) => names.includes(table))) return undefined
  return `/retained/files: must have ${tables.join(', ') || 'no files'} with this clicksFrom`
}

/**
 * @param check throws RowError for a row that cannot be imported
 * @throws CommandError if the content is not what was exported, or cannot be imported; SourceError
 */
async function checkFile(
  path: string,
  expected: ExportedFile,
  signal: AbortSignal,
  check: (fields: RawFields, text: string) => void,
): Promise<void> {
  const hash = createHash('sha256')
  const format = { isCsv: false, isGzipped: true }
  const source = await openSource(
    path,
    format,
    () => {},
    signal,
    (chunk) => hash.update(chunk),
  )
  let rows = 0
  let readLine = 0
  try {
    for await (const block of source.rows) {
      for (const { line, text, fields } of block) {
        rows += 1
        readLine = line
        if (fields instanceof RowError) throw fields
        check(fields, text)
      }
    }
  } catch (error) {
    if (error instanceof FormatError) throw new CommandError(`${path} cannot be imported: ${error.message}.`)
    if (!(error instanceof RowError)) throw error
    throw new CommandError(`${path} cannot be imported: line ${readLine}: ${error.message}.`)
  }
  if (hash.digest('hex') !== expected.sha256) {
    throw new CommandError(`${path} is not the exported file: its hash differs.`)
  }
  if (rows !== expected.rows) {
    throw new CommandError(`${path} has ${rows} rows, but ${manifestName} says ${expected.rows}.`)
  }
}
