import { dimensions, type FilterName, filterDimensions } from './dimensions.ts'
import { metrics } from './metrics.ts'

export type FilterValues = { values: readonly string[]; isExcluded: boolean }

/** Writes the value of the parameter of a filter; the API reads `,`, `\` and a leading `!` literally after a `\`. */
export function formatFilter({ values, isExcluded }: FilterValues): string {
  const text = values.map((value) => value.replace(/[\\,]/g, '\\$&')).join(',')
  if (isExcluded) return `!${text}`
  return text.startsWith('!') ? `\\${text}` : text
}

/** Reads the value of a filter parameter; the inverse of `formatFilter`. The API checks it. */
export function parseFilter(text: string): FilterValues {
  const isExcluded = text.startsWith('!')
  const values = ['']
  for (const [, escaped, letter = ''] of text.slice(isExcluded ? 1 : 0).matchAll(/\\(.)|(.)/gsu)) {
    if (letter === ',') values.push('')
    else values.push(`${values.pop()}${escaped ?? letter}`)
  }
  return { values, isExcluded }
}

/** A value of a dimension, with its name if it has one. */
type NamedValue = { id: string; name: string | null }

/** Whether the id or the name of a value has a text. */
export function hasText({ id, name }: NamedValue, text: string): boolean {
  return `${id}\n${name ?? ''}`.toLowerCase().includes(text.trim().toLowerCase())
}

/** `values`: ids that are checked; `listed`: values that are offered; `isNamed`: a part of a name means the value. */
type FilledForm = { text: string; values: readonly string[]; listed: readonly NamedValue[]; isNamed: boolean }

/** The values that a filled form means: those that are checked, and the one that is typed. The API checks them. */
export function valuesOf({ text, values, listed, isNamed }: FilledForm): string[] {
  const typed = text.trim()
  const isMeant = (known: string | null) => known?.toLowerCase() === typed.toLowerCase()
  const found = listed.filter((value) => hasText(value, typed))
  const only = isNamed && typed !== '' && found.length === 1 ? found[0] : undefined
  const value = listed.find(({ id, name }) => isMeant(id) || isMeant(name)) ?? only
  // The text may be what found the values that are checked.
  const isSearch = typed === '' || (values.length > 0 && found.length > 0)
  return [...new Set([...values, ...(value ? [value.id] : isSearch ? [] : [typed])])]
}

/** The operators of values and of metrics in the parameter `filters` of the API, in its words. */
export const valueOperators = ['is', 'is_not', 'contains', 'contains_not'] as const
export const metricOperators = ['>=', '<=', '='] as const
export type Operator = (typeof valueOperators)[number] | (typeof metricOperators)[number]
export const operatorText = (operator: string): string => operator.replace('_', ' ')

/** A condition of the parameter `filters` of the API; one that the page does not make has other parts. */
export type Condition = readonly [operator: string, name: string, value: readonly string[] | number]

/** Conditions in the order in which they were added. */
export type Conditions = readonly Condition[]

/** A condition that has a parameter of its own: it lists values of a dimension. */
export const isListed = (
  condition: Condition,
): condition is readonly ['is' | 'is_not', FilterName, readonly string[]] =>
  /^is(_not)?$/.test(condition[0]) && condition[1] in filterDimensions

/** Adds a condition, in place of one that lists values of the same dimension. */
export const withCondition = (conditions: Conditions, added: Condition): Conditions => [
  ...conditions.filter((other) => !(isListed(other) && isListed(added) && other[1] === added[1])),
  added,
]

/** The parameters of conditions, in addresses and in requests. */
export function filterParameters(conditions: Conditions): Partial<Record<FilterName | 'filters', string>> {
  const own = new Map<string, string>()
  const others = conditions.filter((condition) => {
    if (!isListed(condition) || own.has(condition[1])) return true
    const [operator, name, values] = condition
    own.set(name, formatFilter({ values, isExcluded: operator === 'is_not' }))
    return false
  })
  return { ...Object.fromEntries(own), ...(others.length > 0 && { filters: JSON.stringify(others) }) }
}

/** Reads the parameters of an address; the inverse of `filterParameters`. */
export function readConditions(query: URLSearchParams): Conditions {
  const listed = [...new Map(query)].flatMap(([name, text]): Condition[] => {
    if (text === '' || !(name in filterDimensions)) return []
    const { values, isExcluded } = parseFilter(text)
    return [[isExcluded ? 'is_not' : 'is', name, values]]
  })
  try {
    const others: unknown = JSON.parse(query.get('filters') ?? '')
    if (Array.isArray(others) && others.every(Array.isArray)) listed.push(...(others as unknown as Condition[]))
  } catch {
    // Without conditions, or with others than the page writes.
  }
  return listed
}

/** Only reports take conditions on metrics. */
export const isOfMetric = ([operator]: Condition): boolean => /^[<>=]/.test(operator)

/** A condition in words; a metric follows `Rows with`. A condition that the page does not make is shown as in the address. */
export function conditionText(condition: Condition): string {
  const [operator, name, value] = condition
  const dimension = filterDimensions[name as FilterName]
  const named = dimension ? dimensions[dimension] : metrics[name as keyof typeof metrics]
  const rows = dimension ? '' : 'Rows with '
  return named ? `${rows}${named.label} ${operatorText(operator)} ${value}` : JSON.stringify(condition)
}

/** The value of rows without a value, as the API names it. */
export const notSet = '(not set)'
