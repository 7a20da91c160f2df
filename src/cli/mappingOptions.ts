import { InvalidArgumentError, Option } from 'commander'
import { checkConstants, columnNames } from '../import/header.ts'
import { type Mapping, mappedFields, type Pairs } from '../import/readers/mapping.ts'
import { RowError } from '../import/readers/rowError.ts'
import type { ResourceName } from '../import/resourceNames.ts'
import { dateOrders } from '../query/timeText.ts'
import { localInstantsOf, readTimeZone } from '../query/timeZone.ts'
import { storableTimes } from '../stores/clickhouse/sql.ts'
import type { Command } from './context.ts'
import { UsageError } from './errors.ts'
import { readAsApi } from './options.ts'

export type MappingOptions = Partial<Omit<Mapping, 'localInstant'>> & { tz?: string }

/** Adds the options that say how the columns of a file differ from the fields of its resource. */
export function addMappingOptions(command: Command): Command {
  return command
    .option('--map <column=field,...>', 'fields that columns have; a column without a field is not read', readPairs)
    .option('--constant <field=value,...>', 'values that fields have in every row', readPairs)
    .option('--values <field:text=value,...>', 'values that texts stand for, such as status:sale=approved', readPairs)
    .option('--tz <zone>', 'time zone of times without offset, such as Europe/Berlin')
    .addOption(new Option('--date-order <order>', 'order of dates such as 11/20/2026: mdy or dmy').choices(dateOrders))
    .option('--ignore-unknown', 'do not read unknown columns')
    .option('--hash-ids', 'store ids with other characters, such as #1001, as their SHA-256')
    .option('--hash-long-ids', 'store ids of more than 64 characters as their SHA-256')
}

/** A name, `=` and a value, up to a comma or the end; a backslash before a comma, `=` or backslash takes its meaning away. */
const pair = /((?:[^,=\\]|\\[,=\\]|\\(?![,=\\]))+)=((?:[^,\\]|\\[,=\\]|\\(?![,=\\]))*)(?:,(?!$)|$)/gy

function readPairs(text: string, earlier: Pairs = []): Pairs {
  const pairs = [...text.matchAll(pair)]
  if (text === '' || pairs.map(([whole]) => whole).join('') !== text)
    throw new InvalidArgumentError(
      'Use name=value, with commas between; write a comma in a name or value as \\, and = as \\=.',
    )
  const plain = (part = '') => part.replace(/\\([,=\\])/g, '$1')
  return [...earlier, ...pairs.map(([, name, value]) => [plain(name), plain(value)] as const)]
}

/** @throws UsageError for a field that the resource does not have or that is set twice, and for values that never apply */
export function readMapping(resource: ResourceName, options: MappingOptions): Mapping {
  const {
    map = [],
    constant = [],
    values = [],
    tz,
    dateOrder,
    ignoreUnknown = false,
    hashIds = false,
    hashLongIds = false,
  } = options
  const zone = tz === undefined ? undefined : readAsApi(() => readTimeZone(tz))
  const localInstant = zone === undefined ? undefined : localInstantsOf(zone, storableTimes)
  const mapping = { map, constant, values, localInstant, dateOrder, ignoreUnknown, hashIds, hashLongIds }
  const known = columnNames(resource).map((name) => name.replace('*', ''))
  const fields = mappedFields(mapping)
  const named = [...fields, ...values.map(([key]) => key.replace(/:.*/, ''))]
  const unknown = named.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UsageError(`${unknown} is not a field of ${resource}; see: import --help.`)
  if (new Set(fields).size < fields.length) throw new UsageError('--map and --constant must not set a field twice.')
  const useless = values.find(([key]) => !/^(?!(tags|countries|subIds|properties):)[^:]+:./.test(key))
  if (useless) throw new UsageError(`--values ${useless[0]}: use field:text=value; lists and objects have no text.`)
  const empty = constant.find(([, text]) => text === '')
  if (empty) throw new UsageError(`--constant ${empty[0]}= has no value.`)
  try {
    checkConstants(resource, mapping)
  } catch (error) {
    throw error instanceof RowError ? new UsageError(`--constant ${error.message}.`) : error
  }
  return mapping
}
