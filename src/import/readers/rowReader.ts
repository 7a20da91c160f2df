import { notSet } from '../../../schema/dimensions.ts'
import { textOf } from '../../query/exactJson.ts'
import { type Given, givenBit } from '../../writer/tables/givenFields.ts'
import type { AmountFields } from './amounts.ts'
import { type Input, mappedFields } from './mapping.ts'
import { money } from './money.ts'
import { printable, shownCharacters } from './printable.ts'
import { InvalidValue, RowError } from './rowError.ts'
import type { FieldType } from './texts.ts'
import { codeInName, readWritten } from './writtenAmounts.ts'

/** The fields of a row of a resource, by their API names. */
export interface RowShape<Row extends object> {
  readonly name: string
  /** Type of each field that sets the property of the same name. */
  readonly fields: { readonly [Name in keyof Row]?: FieldType<NonNullable<Row[Name]>> }
  /** Types of fields that set text properties which other fields set too: `subIds` and `sub1`. */
  readonly spread?: Readonly<Record<string, FieldType<Partial<Row>>>>
  /** Fields of exported rows that are not stored: names, counts. */
  readonly ignored: readonly string[]
  readonly required: readonly (keyof Row & string)[]
}

/** Values of one line of a file, by field name. */
export type RawFields = Readonly<Record<string, unknown>>

/** Reads the fields of a line into a row. A field is absent if `isAbsent` says so. */
export type RowReader<Row> = (fields: RawFields, input: Input) => Row

const emptyCost = " (--values 'cost:=0' reads an empty cell as 0)"

/** A row may have a hundred thousand unknown fields; those after so many reasons are not named. */
const reasonsMax = 50

/**
 * Makes the reader of a resource.
 * @param blank a row with every field absent, which is copied for each row
 * @returns a function that throws RowError, naming every invalid field. A `given` of the blank row receives the fields that a row gives
 */
export function rowReader<Row extends object>(shape: RowShape<Row>, blank: Readonly<Row>): RowReader<Row> {
  let prepared: ReturnType<typeof prepare<Row>> | undefined
  return (values, input) => {
    if (prepared?.input !== input) prepared = prepare(shape, blank, input)
    const { template, columns, required } = prepared
    // TRAP: V8 takes 3 µs for each property that is added to a copy, far more than for the copy: rows have all of theirs here.
    const row: Row = { ...template }
    const reasons: string[] = []
    for (const column of Object.keys(values)) {
      const fields = columns.get(column)
      if (fields) for (const field of fields) assign(row, field, values[column], input, reasons)
      else if (input.ignoreUnknown !== true && reasons.length < reasonsMax) {
        const shown = /^[\w.-]{1,64}$/.test(column) ? column : JSON.stringify(column.slice(0, 64))
        if (input.ignoreUnknown) input.ignoreUnknown(shown)
        else reasons.push(`${shown}: is not a field of ${shape.name}`)
      }
    }
    for (const { field, column } of required)
      if (column === undefined || isAbsent(replaced(field, values[column]) ?? values[column], input))
        reasons.push(`${field.name}: is required${field.name === 'cost' && input.from === 'cells' ? emptyCost : ''}`)
    if (reasons.length > 0) throw new RowError(...reasons)
    return row
  }
}

/** @returns a reader of some fields of cells: what the valid ones set in a row, and the texts of all by their names */
export function partReader<Row extends object>(names: readonly string[], from: ReturnType<typeof prepare>) {
  const all = [...from.columns].flatMap(([column, fields]) => fields.map((field) => ({ column, field })))
  const parts = all.filter(({ field }) => names.includes(field.name))
  return (values: RawFields) => {
    const read: Partial<Row> = {}
    for (const { column, field } of parts) assign(read, field, values[column], from.input, [])
    const texts = parts.map(({ column, field }) => [field.name, replaced(field, values[column]) ?? values[column]])
    return { read, texts: Object.fromEntries(texts) as Readonly<Record<string, string | undefined>> }
  }
}

type Field = ReturnType<ReturnType<typeof fieldMaker>>

/** @returns a function that makes the field which a column sets */
function fieldMaker<Row extends object>({ fields, spread = {} }: RowShape<Row>, blank: Readonly<Row>, input: Input) {
  const types = { ...fields, ...spread } as Readonly<Record<string, FieldType<unknown>>>
  return (name: string, column = '') => ({
    name,
    type: types[name] as FieldType<unknown>,
    /** Of an amount beside which the file may have a sign or a code. */
    decimal: types[name] === money ? input.decimal : undefined,
    /** The code of a currency in the name of the column of an amount; empty: none. */
    code: types[name] === money ? codeInName(column) : '',
    /** Texts, as in CSV cells, by the texts of the file that stand for them. */
    replacements: new Map(
      input.values.flatMap(([key, text]) => (key.startsWith(`${name}:`) ? [[key.slice(name.length + 1), text]] : [])),
    ),
    note: (message: string, value: unknown) => input.note?.(name, message, value),
    isSpread: Object.hasOwn(spread, name),
    bit: Object.hasOwn(blank, 'given') ? givenBit(name) : 0,
  })
}

/** @throws RowError naming every invalid constant */
export function prepare<Row extends object>(shape: RowShape<Row>, blank: Readonly<Row>, input: Input) {
  const fieldOf = fieldMaker(shape, blank, input)
  const columns = new Map(Object.keys({ ...shape.fields, ...shape.spread }).map((name) => [name, [fieldOf(name)]]))
  for (const column of [...shape.ignored, ...mappedFields(input)]) columns.set(column, [])
  for (const [column] of input.map) columns.set(column, [])
  for (const [column, name] of input.map) if (name !== '') columns.get(column)?.push(fieldOf(name, column))
  const template = { ...blank }
  const reasons: string[] = []
  for (const [name, text] of input.constant) {
    assign(template, fieldOf(name), text, { ...input, from: 'cells' }, reasons)
    if (isAbsent(replaced(fieldOf(name), text) ?? text) && shape.required.some((field) => field === name))
      reasons.push(`${name}: is required`)
  }
  if (reasons.length > 0) throw new RowError(...reasons)
  const required = shape.required.flatMap((name) => {
    const [column] = [...columns].find(([, fields]) => fields.some((field) => field.name === name)) ?? []
    return input.constant.some(([field]) => field === name) ? [] : [{ field: fieldOf(name), column }]
  })
  return { input, template, columns, required }
}

/** Sets a field of a row to a value of a file, unless that is absent. @param reasons receives the reason why it is invalid */
function assign<Row extends object>(row: Row, field: Field, raw: unknown, input: Input, reasons: string[]) {
  const { name, type, isSpread, bit, note, decimal, code } = field
  const replacement = replaced(field, raw)
  const value = replacement ?? raw
  if (isAbsent(value, input)) return
  try {
    const read = type(value, input, note, input.from === 'cells' || replacement !== undefined)
    if (isSpread) assignOnce(row, read as Partial<Row>)
    else row[name as keyof Row] = read as Row[keyof Row]
    const mark = decimal && typeof value === 'string' ? readWritten(value, decimal)?.mark : undefined
    if (mark || code) {
      const marks = row as Partial<AmountFields>
      const key = name.endsWith('Base') ? 'baseMark' : 'mark'
      marks[key] = [marks[key], code, mark].filter(Boolean).join(' ')
    }
    if (bit !== 0) (row as Row & Given).given |= bit
  } catch (error) {
    if (!(error instanceof RowError)) throw error
    const isNamed = error instanceof InvalidValue && input.namesOptions !== false && typeof value === 'string'
    const remedy = isNamed ? ` (${error.remedy(name, printable(value, shownCharacters))})` : ''
    reasons.push(`${name}: ${error.message}${remedy}`)
  }
}

/** @throws RowError when a property has been set to another text */
function assignOnce<Row extends object>(row: Row, values: Partial<Row>): void {
  for (const [name, value] of Object.entries(values) as [keyof Row & string, Row[keyof Row & string]][]) {
    if (row[name] && row[name] !== value) throw new RowError(`gives ${name} another value than another field does`)
    row[name] = value
  }
}

/** @returns the text that a value stands for; null is an empty text. A missing value, a list or an object has none */
function replaced({ replacements }: Field, value: unknown): string | undefined {
  const text = value === null || typeof value === 'boolean' ? `${value ?? ''}` : textOf(value)
  return text === undefined ? undefined : replacements.get(text)
}

/** Whether a value is missing, null, empty, or `(not set)`, as reports name it; a moved row keeps such a text. */
export function isAbsent(value: unknown, { isMoved = false }: Pick<Input, 'isMoved'> = {}): boolean {
  return value === null || value === undefined || value === '' || (value === notSet && !isMoved)
}
