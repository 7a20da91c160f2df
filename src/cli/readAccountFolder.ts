import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { scopes } from '../../schema/scopes.ts'
import {
  type ExportedFile,
  fileOf,
  folderFormat,
  Manifest,
  ManifestHeader,
  manifestName,
} from '../export/accountFolder.ts'
import { FormatError } from '../import/parsers/fileFormat.ts'
import { jsonInput } from '../import/readers/mapping.ts'
import { RowError } from '../import/readers/rowError.ts'
import type { RawFields } from '../import/readers/rowReader.ts'
import { resourceNames } from '../import/resourceNames.ts'
import { readerOf } from '../import/rows.ts'
import { openSource } from '../import/source.ts'
import { isLater, version } from '../package.ts'
import { isJsonObject } from '../query/exactJson.ts'
import { keptTables, removedSumsCheck } from '../writer/retention/removedSums.ts'
import { CommandError } from './errors.ts'
import { matching, readJsonFile } from './readJsonFile.ts'

/**
 * Reads the manifest of a folder of `account export`, and checks every row of its files.
 * @param signal ends the reading
 * @returns the manifest, the SHA-256 of its file, and the names of what a later version added and an import leaves out
 * @throws CommandError or SourceError that names the file, and the field or the line
 */
export async function readAccountFolder(folder: string, signal: AbortSignal) {
  const path = join(folder, manifestName)
  const { value: header, text } = await readJsonFile(path, ManifestHeader, 'is no account')
  const { format, program } = header
  if (format > folderFormat)
    throw new CommandError(`${path} has format ${format}; import it with version ${program.version} or later.`)
  const isOfLater = isLater(program.version, version)
  const leftOut = new Set<string>()
  if (isOfLater) removeUnknown(header, leftOut)
  const manifest = matching(path, Manifest, header, 'is no account of this version')
  const contradiction = contradictionIn(manifest)
  if (contradiction) throw new CommandError(`${path} contradicts itself: ${contradiction}.`)
  const { account, files, retained } = manifest
  for (const resource of resourceNames) {
    const file = files[resource]
    if (!file) continue
    const read = readerOf(resource, account.currency, true)
    const ignoreUnknown = isOfLater && ((name: string) => void leftOut.add(`${resource}.${name}`))
    const input = { ...jsonInput, isMoved: true, ignoreUnknown }
    await checkFile(join(folder, fileOf(resource)), file, signal, (fields) => void read(fields, input))
  }
  for (const table of keptTables) {
    const file = retained.files[table]
    if (!file || retained.clicksFrom === null) continue
    const reasonOf = removedSumsCheck(table, Date.parse(retained.clicksFrom), isOfLater)
    await checkFile(join(folder, fileOf(table)), file, signal, (_fields, text) => {
      const reason = reasonOf(text)
      if (reason !== undefined) throw new RowError(reason)
    })
  }
  return { manifest, sha256: createHash('sha256').update(text).digest('hex'), leftOut }
}

/** Removes files and scopes of a later version from a manifest that is not checked yet. */
function removeUnknown(manifest: Record<string, unknown>, leftOut: Set<string>): void {
  const { files, retained, keys } = manifest
  const keepIn = (listed: unknown, known: readonly string[]) => {
    if (!isJsonObject(listed)) return
    for (const name of Object.keys(listed)) {
      if (known.includes(name)) continue
      delete listed[name]
      leftOut.add(name)
    }
  }
  keepIn(files, resourceNames)
  if (isJsonObject(retained)) keepIn(retained.files, keptTables)
  for (const key of Array.isArray(keys) ? keys : []) {
    if (!isJsonObject(key) || !Array.isArray(key.scopes)) continue
    for (const scope of key.scopes) if (typeof scope === 'string' && !isScope(scope)) leftOut.add(scope)
    key.scopes = key.scopes.filter((scope) => typeof scope !== 'string' || isScope(scope))
  }
}

const isScope = (text: string) => (scopes as readonly string[]).includes(text)

function contradictionIn({ keys, retained }: Manifest): string | undefined {
  const ids = new Set(keys.map(({ id }) => id))
  if (ids.size < keys.length) return '/keys: two have the same id'
  if (new Set(keys.map(({ hash }) => hash)).size < keys.length) return '/keys: two have the same hash'
  const index = keys.findIndex(({ replacedBy }) => replacedBy !== null && !ids.has(replacedBy))
  if (index !== -1) return `/keys/${index}/replacedBy: is not the id of one of its keys`
  const unclear = keys.findIndex(({ prefix, view }) => prefix.startsWith('trb_part_') !== Boolean(view))
  if (unclear !== -1) return `/keys/${unclear}/view: does not agree with its prefix`
  const tables = retained.clicksFrom === null ? [] : keptTables
  const names = Object.keys(retained.files)
  // Version 1.1 and earlier write no ids of costs.
  const isComplete = tables.every((table) => names.includes(table) || table === 'cost_index')
  if (isComplete && names.every((name) => (tables as readonly string[]).includes(name))) return undefined
  return `/retained/files: must have ${tables.join(', ') || 'no files'} with this clicksFrom`
}

/** Throws RowError for a row that cannot be imported. */
type CheckRow = (fields: RawFields, text: string) => void

/**
 * @throws CommandError if the content is not what was exported, or cannot be imported; SourceError
 */
async function checkFile(path: string, expected: ExportedFile, signal: AbortSignal, check: CheckRow): Promise<void> {
  const hash = createHash('sha256')
  const file = { path, format: { isCsv: false, isGzipped: true } }
  const addToHash = (chunk: Buffer) => void hash.update(chunk)
  const source = await openSource(file, { checkHeader: () => 0 }, signal, addToHash)
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
