import { type Static, Type } from '@sinclair/typebox'
import { InvalidArgumentError, Option } from 'commander'
import { checkConstants, columnNames } from '../import/header.ts'
import { readRate } from '../import/readers/amounts.ts'
import { type Mapping, mappedFields, noMapping, type Pairs } from '../import/readers/mapping.ts'
import { RowError } from '../import/readers/rowError.ts'
import { currency } from '../import/readers/texts.ts'
import { instant } from '../import/readers/times.ts'
import { decimalSigns } from '../import/readers/writtenAmounts.ts'
import { constantDimensions } from '../import/replacedDays.ts'
import { type ImportName, importTables } from '../import/resourceNames.ts'
import { dateOrders } from '../query/timeText.ts'
import { localInstantsOf, localTimesOf, parseTimeZone } from '../query/timeZone.ts'
import { storableTimes } from '../stores/clickhouse/sql.ts'
import { Command } from './context.ts'
import { UsageError } from './errors.ts'
import { readAsApi } from './options.ts'
import { readJsonFile } from './readJsonFile.ts'

export interface MappingOptions extends Partial<Omit<Mapping, 'localInstant' | 'rates' | 'updatedAtMs'>> {
  mapping?: string
  rates?: Pairs
  tz?: string
  updatedAt?: string
}

/** Adds the options that say how the columns of a file differ from the fields of its resource. */
export function addMappingOptions(command: Command): Command {
  return command
    .option('--map <column=field,...>', 'fields that columns have; a column without a field is not read', readPairs)
    .option('--constant <field=value,...>', 'values that fields have in every row', readPairs)
    .option('--values <field:text=value,...>', 'values that texts stand for, such as status:sale=approved', readPairs)
    .option('--mapping <file>', 'JSON file of these options; options beside it are added, or count instead')
    .option('--tz <zone>', 'time zone of times without offset, such as Europe/Berlin')
    .addOption(new Option('--date-order <order>', 'order of dates such as 11/20/2026: mdy or dmy').choices(dateOrders))
    .addOption(new Option('--decimal <sign>', 'point: 1,234.56 and $12.50; comma: 1.234,56 €').choices(decimalSigns))
    .option('--rates <currency=rate,...>', 'exchange rates of rows without their own, such as EUR=1.08', readPairs)
    .option('--updated-at <instant>', 'updatedAt of conversions and costs without their own')
    .option('--replace-days', 'set stored costs of the days of the file to 0 if the file lacks them')
    .option('--keep-totals', 'store the rows of totals of a cost sheet')
    .option('--ignore-unknown', 'do not read unknown columns')
    .option('--hash-ids', 'store ids with other characters, such as #1001, as their SHA-256')
    .option('--hash-long-ids', 'store ids of more than 64 characters as their SHA-256')
}

/** A name, `=` and a value, up to a comma or the end; a backslash before a comma, `=` or backslash takes its meaning away. */
const pair = /((?:[^,=\\]|\\[,=\\]|\\(?![,=\\]))+)=((?:[^,\\]|\\[,=\\]|\\(?![,=\\]))*)(?:,(?!$)|$)/gy

function readPairs(text: string, earlier: Pairs = []): Pairs {
  const pairs = [...text.matchAll(pair)]
  if (text === '' || pairs.map(([whole]) => whole).join('') !== text)
    throw new InvalidArgumentError('Use name=value, with commas between; in a name or value write \\, and \\=.')
  const plain = (part = '') => part.replace(/\\([,=\\])/g, '$1')
  return [...earlier, ...pairs.map(([, name, value]) => [plain(name), plain(value)] as const)]
}

const Texts = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]))
const MappingFile = Type.Record(Type.String(), Type.Union([Type.String(), Type.Boolean(), Texts]))

/** @returns the options of the file of `--mapping` and the others; pairs of both, else the option of the command */
async function withMappingFile({ mapping: path, ...given }: MappingOptions): Promise<MappingOptions> {
  if (path === undefined) return given
  const { about: _about, ...file } = (await readJsonFile(path, MappingFile, 'is no mapping')).value
  const command = addMappingOptions(new Command())
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
  try {
    command.parse(Object.entries(file).flatMap(wordsOf), { from: 'user' })
  } catch (error) {
    throw new UsageError(`${path} is no mapping: ${(error as Error).message}`)
  }
  const options = { ...command.opts<MappingOptions>(), ...given }
  for (const name of ['map', 'constant', 'values', 'rates'] as const)
    options[name] = [...(command.opts<MappingOptions>()[name] ?? []), ...(given[name] ?? [])]
  return options
}

/** @returns an option of the file as words of the command: `dateOrder` is `--date-order` */
function wordsOf([name, value]: [string, Static<typeof MappingFile>[string]]): string[] {
  const option = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
  if (typeof value !== 'object') return typeof value === 'string' ? [option, value] : value ? [option] : []
  const escaped = (text: string) => text.replace(/[,=\\]/g, '\\$&')
  const pairs = Object.entries(value).flatMap(([key, texts]) => [texts].flat().map((text) => [key, text]))
  return [option, pairs.map((texts) => texts.map(escaped).join('=')).join()]
}

/**
 * @throws UsageError for a field that the resource does not have or that is set twice, for values that never apply, and for options
 *   without others that they need; CommandError for an invalid file of `--mapping`
 */
export async function readMapping(resource: ImportName, given: MappingOptions): Promise<Mapping> {
  const { tz, rates = [], updatedAt, ...options } = await withMappingFile(given)
  const zone = tz === undefined ? undefined : readAsApi(() => parseTimeZone(tz))
  const localInstant = zone === undefined ? undefined : localInstantsOf(zone, storableTimes)
  const mapping: Mapping = {
    ...noMapping,
    ...options,
    localInstant,
    localTime: zone === undefined ? undefined : localTimesOf(zone, storableTimes),
    rates: naming('--rates', () => new Map(rates.map(([code, rate]) => [currency(code), readRate(rate)]))),
    updatedAtMs: naming('--updated-at', () =>
      updatedAt === undefined ? undefined : instant(updatedAt, { localInstant, dateOrder: options.dateOrder }),
    ),
  }
  const { constant, values } = mapping
  const known = columnNames(resource)
  const fields = mappedFields(mapping)
  const named = [...fields, ...values.map(([key]) => key.replace(/:.*/, ''))]
  const unknown = named.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UsageError(`${unknown} is not a field of ${resource}; see: import --help.`)
  if (new Set(fields).size < fields.length) throw new UsageError('--map and --constant must not set a field twice.')
  const useless = values.find(([key]) => !/^(?!(tags|countries|subIds|properties):)(cost:$|[^:]+:.)/.test(key))
  if (useless) throw new UsageError(`--values ${useless[0]}: use field:text=value; lists and objects have no text.`)
  const micros = mapping.map.find(([name, field]) => field.startsWith('cost') && /micros?(?![a-z-])/i.test(name))
  if (micros) throw new UsageError(`the amounts of column ${micros[0]} are millionths: divide the amounts by 1000000.`)
  const empty = constant.find(([, text]) => text === '')
  if (empty) throw new UsageError(`--constant ${empty[0]}= has no value.`)
  naming('--constant', () => checkConstants(resource, mapping))
  if (rates.length > 0 && constant.some(([field]) => field === 'exchangeRate'))
    throw new UsageError('use either --rates or --constant exchangeRate.')
  if (updatedAt !== undefined && !['costs', 'conversions'].includes(importTables[resource]))
    throw new UsageError('--updated-at is for costs, conversions and conversion-statuses.')
  if (!mapping.replaceDays) return mapping
  if (resource !== 'costs' || zone === undefined || constantDimensions(mapping).length === 0)
    throw new UsageError('--replace-days is for costs, with --tz and a dimension as --constant trafficSourceId=google.')
  if (fields.includes('id') || fields.includes('updatedAt'))
    throw new UsageError('--replace-days derives ids, and has the time of --updated-at: set neither id nor updatedAt.')
  if (constant.some(([field]) => field === 'spentAt'))
    throw new UsageError('--replace-days needs the day of each row: map a column to spentAt, without a constant.')
  return mapping
}

/** @throws UsageError that names the option, for a RowError */
function naming<Value>(option: string, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw error instanceof RowError ? new UsageError(`${option} ${error.message}.`) : error
  }
}
