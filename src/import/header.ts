import { closestMatch } from 'leven'
import { FormatError } from './parsers/fileFormat.ts'
import { type Mapping, mappedFields } from './readers/mapping.ts'
import { printable, shownCharacters } from './readers/printable.ts'
import { prepare, type RowShape } from './readers/rowReader.ts'
import { type ImportName, importTables } from './resourceNames.ts'
import { clickShape } from './resources/click.ts'
import { conversionShape, statusShape } from './resources/conversion.ts'
import { costShape } from './resources/cost.ts'
import { metadataShapes } from './resources/metadata.ts'
import { pixelEventShape } from './resources/pixelEvent.ts'

type Shape = RowShape<Record<string, unknown>>

const tableShapes: Record<(typeof importTables)[ImportName], Shape> = {
  clicks: clickShape,
  conversions: conversionShape,
  costs: costShape,
  pixel_events: pixelEventShape,
  ...metadataShapes,
}

export const shapeOf = (name: ImportName): Shape =>
  name === 'conversion-statuses' ? statusShape : tableShapes[importTables[name]]

const storedColumns = ({ fields, spread }: Shape): string[] => Object.keys({ ...fields, ...spread })

/** Returns the fields that a row of a resource may have. */
export function fieldNames(resource: ImportName): string[] {
  const shape = shapeOf(resource)
  return [...storedColumns(shape), ...shape.ignored]
}

/** Returns the columns of a CSV file of a resource, which are the fields of its JSON rows too. */
export const columnNames = (resource: ImportName): string[] => storedColumns(shapeOf(resource))

/** Reads the constants of a mapping, so that an invalid one is reported once and not for each row. @throws RowError */
export function checkConstants(resource: ImportName, mapping: Mapping): void {
  prepare(shapeOf(resource), {}, { ...mapping, from: 'cells' })
}

const shownColumns = 20

/**
 * Checks the header of a CSV file, so that a wrong name is reported once and not for each row. A column that is not read may be
 * missing, have no name, or have the name of another column.
 * @returns the number of cells up to the last required one
 * @throws FormatError that lists the unknown columns, each with the nearest known one, the columns that are there twice, and the
 *   missing ones: required ones and columns of the mapping
 */
export function checkHeader(resource: ImportName, names: readonly string[], mapping: Mapping, line: number): number {
  const shape = shapeOf(resource)
  const stored = storedColumns(shape)
  if (names.includes('') && !mapping.ignoreUnknown)
    throw new FormatError('its header has a column without a name, which --ignore-unknown does not read')
  const { columns, required } = prepare(shape, {}, { ...mapping, from: 'cells' })
  const isRead = (name: string) => (columns.get(name)?.length ?? 0) > 0
  const repeated = names.find((name, index) => isRead(name) && names.indexOf(name) !== index)
  if (repeated !== undefined) throw new FormatError(`its header names ${JSON.stringify(repeated)} twice`)
  const mapped = mapping.map.map(([column]) => column)
  const own = names.filter((name) => !mapped.includes(name))
  const unknown = own.filter((name) => !fieldNames(resource).includes(name) && !mapping.ignoreUnknown)
  const set = [...own, ...mappedFields(mapping)]
  const missing = [
    ...mapped.filter((name) => isRead(name) && !names.includes(name)),
    ...shape.required.filter((name) => !set.includes(name)),
  ]
  if (unknown.length === 0 && missing.length === 0)
    return 1 + Math.max(...required.map(({ column = '' }) => names.indexOf(column)))
  const shown = unknown.slice(0, shownColumns).map((name) => ({
    name: printable(name, shownCharacters),
    nearest: nearestColumn(name.slice(0, shownCharacters), resource, stored),
  }))
  const described = shown.map(({ name, nearest }) => `${name}${nearest ? ` (did you mean ${nearest}?)` : ''}`)
  const others = unknown.length > shownColumns ? ` and ${unknown.length - shownColumns} others` : ''
  const problems = [
    ...(unknown.length > 0 ? [`unknown columns: ${described.join(', ')}${others}`] : []),
    ...(missing.length > 0 ? [`no column ${missing.join(' and no column ')}`] : []),
  ]
  const known = shown.every(({ nearest }) => nearest) ? '' : `. Columns of ${resource}: ${stored.join(', ')}`
  const header = line === 1 ? 'its header' : `its header, line ${line},`
  throw new FormatError(`${header} has ${problems.join('; ')}${known}`)
}

/** Returns the columns that a mapping reads, which the header of a CSV file must have. */
export function mappedColumns({ map }: Mapping): string[] {
  return [...new Set(map.flatMap(([column, field]) => (field === '' ? [] : [column])))]
}

/**
 * Finds the column that a name stands for: `clicked_at` and `Clicked At` for `clickedAt`, `Click ID` for the `id` of
 * clicks, `contry` for `country`.
 */
function nearestColumn(name: string, resource: ImportName, stored: readonly string[]): string | undefined {
  const wanted = lettersOf(name)
  const singulars = [resource, resource.split('-').at(-1) ?? ''].map((word) => lettersOf(word).replace(/s$/, ''))
  const forms = [wanted, ...singulars.flatMap((word) => (wanted.startsWith(word) ? [wanted.slice(word.length)] : []))]
  const byLetters = new Map(stored.map((column) => [lettersOf(column), column]))
  const nearest =
    forms.find((form) => byLetters.has(form)) ??
    closestMatch(wanted, [...byLetters.keys()], { maxDistance: Math.floor(wanted.length / 3) })
  return nearest === undefined ? undefined : byLetters.get(nearest)
}

/** Letters and digits in lower case. */
const lettersOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')
