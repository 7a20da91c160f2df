import { type Static, type TObject, Type } from '@sinclair/typebox'
import { type AttributeName, utmNames } from './dimensions.ts'
import { ListOf, optional } from './scalars.ts'
import { subIdNames } from './subIds.ts'

/** The cursor that each row of an export has; pages in JSON have one for the next page. */
export const cursorField = 'cursor'

const ofClicks = { languageTag: 'language', referrerDomain: 'referrer_domain' } as const satisfies Record<
  string,
  AttributeName
>

/** Dimensions by their fields: `os_version` by `osVersion`. */
const byField = (...names: AttributeName[]) =>
  Object.fromEntries(names.map((name) => [name.replace(/_./, (part) => part.slice(1).toUpperCase()), name]))

/** Dimensions that are no fields of rows, by the fields that exports have if `fields` names them. */
export const exportedDimensions: Readonly<Record<string, Readonly<Record<string, AttributeName>>>> = {
  clicks: ofClicks,
  conversions: { ...byField('region', 'city', 'os_version', 'browser_version'), ...ofClicks, ...byField(...utmNames) },
}

/**
 * Parameter `fields` of a list.
 * @param row schema of its rows
 * @param ofExports names of `exportedDimensions`
 */
export function fieldsParameter(row: TObject, ofExports: readonly string[] = []) {
  const names = Object.keys(row.properties).flatMap((name) => (name === 'subIds' ? [name, ...subIdNames] : [name]))
  const more = [...ofExports, cursorField]
  const subIdsText = names.includes('subIds')
    ? ' `sub1` to `sub10` are columns of their own in CSV, and elsewhere select keys of `subIds`.'
    : ''
  return optional({
    fields: ListOf([...names, ...more], {
      description: `Fields of the rows to return, separated by commas; default: all. \`id\` is always returned; fields are in the order of the schema.${subIdsText} Exports also have \`${more.join('`, `')}\`${ofExports.length > 0 ? ', only if named' : ''}. Cursors stay valid with other fields.`,
    }),
  })
}

/**
 * A row of a list: with the parameter `fields` it has only these fields, so only `id` is required. The static type has
 * all fields.
 */
export function SelectableRow<Row extends TObject>(row: Row): Row {
  const { id, ...others } = row.properties
  return Type.Object({ id, ...optional(others) } as typeof row.properties, {
    ...(row.$id !== undefined && { $id: row.$id }),
    description: 'Each row has all fields, or the fields of the parameter `fields`.',
  }) as Row
}

/** The same row where `fields` is not a parameter: all fields are required. In the OpenAPI document it refers to the row of the list. */
export function CompleteRow<Row extends TObject>(row: Row) {
  return Type.Unsafe<Static<Row>>({ allOf: [SelectableRow(row)], required: Object.keys(row.properties) })
}
