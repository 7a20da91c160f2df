import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { Value } from '@sinclair/typebox/value'
import { type ExportedFile, fileOf, hashed, Manifest, manifestName } from '../export/accountFolder.ts'
import { movedRowReader } from '../import/movedRows.ts'
import { readLines } from '../import/parsers/lines.ts'
import { type RawRow, readNdjson } from '../import/parsers/ndjsonParser.ts'
import type { RawFields } from '../import/readers/rowDecoder.ts'
import { RowError } from '../import/readers/rowError.ts'
import { resourceNames } from '../import/resourceNames.ts'
import { removedSumsCheck, removedTables } from '../writer/retention/removedSums.ts'
import { CommandError } from './errors.ts'

/**
 * Reads the manifest of a folder of `account export`, and checks every row of its files.
 * @returns the manifest, and the SHA-256 of its file
 * @throws CommandError that names the file, and the field or the line
 */
export async function readAccountFolder(folder: string): Promise<{ manifest: Manifest; sha256: string }> {
  const { manifest, sha256 } = await readManifest(join(folder, manifestName))
  const { account, files, retained } = manifest
  for (const resource of resourceNames) {
    const read = movedRowReader(resource, account)
    await checkFile(join(folder, fileOf(resource)), files[resource], ({ fields }) => read(fields, 'json'))
  }
  for (const table of removedTables) {
    const file = retained.files[table]
    if (!file || retained.clicksFrom === null) continue
    const reasonOf = removedSumsCheck(table, Date.parse(retained.clicksFrom))
    await checkFile(join(folder, fileOf(table)), file, ({ text }) => {
      const reason = reasonOf(text)
      if (reason !== undefined) throw new RowError(reason)
    })
  }
  return { manifest, sha256 }
}

async function readManifest(path: string): Promise<{ manifest: Manifest; sha256: string }> {
  let text: string
  let content: unknown
  try {
    text = await readFile(path, 'utf8')
    assertFewValues(text)
    content = JSON.parse(text)
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}.`)
  }
  const [invalid] = Value.Errors(Manifest, content)
  if (invalid) {
    const { description } = invalid.schema
    const reason = description === undefined ? invalid.message : `must be ${description}`
    throw new CommandError(`${path} is no account of this version: ${invalid.path || '/'}: ${reason}.`)
  }
  const manifest = Value.Decode(Manifest, content)
  const contradiction = contradictionIn(manifest)
  if (contradiction) throw new CommandError(`${path} contradicts itself: ${contradiction}.`)
  return { manifest, sha256: createHash('sha256').update(text).digest('hex') }
}

/**
 * Parsed JSON of short values takes forty times the memory of its text. A manifest has a value in ten bytes at most, since its
 * values are ids, hashes and times.
 * @throws Error if the text has more
 */
function assertFewValues(text: string): void {
  let left = 100 + text.length / 10
  let isInText = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    // A backslash escapes the next character.
    if (character === '\\') at += 1
    else if (character === '"') isInText = !isInText
    else if (!isInText && '[{,'.includes(character)) left -= 1
    if (left < 0) throw new Error('it has more values than an exported account')
  }
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

/** @throws RowError for a row that cannot be imported */
type Check = (row: { text: string; fields: RawFields }) => void

/** @throws CommandError if the content is not what was exported, or cannot be imported */
async function checkFile(path: string, expected: ExportedFile, check: Check): Promise<void> {
  let sha256 = ''
  let rows = 0
  let rejected: string | undefined
  let formatError: unknown
  const read = async (chunks: AsyncIterable<Buffer>) => {
    const lines = readLines(
      hashed(chunks, (digest) => {
        sha256 = digest
      }),
    )
    try {
      for await (const block of readNdjson(lines)) {
        for (const row of block) {
          rows += 1
          rejected ??= reasonToReject(row, check)
        }
      }
    } catch (error) {
      // The pipeline rejects with the abortion of its streams instead.
      formatError = error
      throw error
    }
  }
  try {
    await pipeline(createReadStream(path), createGunzip(), read)
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${((formatError ?? error) as Error).message}.`)
  }
  if (sha256 !== expected.sha256) throw new CommandError(`${path} is not the exported file: its hash differs.`)
  if (rejected !== undefined) throw new CommandError(`${path} cannot be imported: ${rejected}.`)
  if (rows !== expected.rows) {
    throw new CommandError(`${path} has ${rows} rows, but ${manifestName} says ${expected.rows}.`)
  }
}

function reasonToReject({ line, text, fields }: RawRow, check: Check): string | undefined {
  try {
    if (fields instanceof RowError) throw fields
    check({ text, fields })
    return undefined
  } catch (error) {
    if (!(error instanceof RowError)) throw error
    return `line ${line}: ${error.message}`
  }
}
