/** A value in SQL: always a typed parameter, never text. */
export interface Value {
  /** As in `{p1:Type}`. */
  readonly type: string
  readonly value:
    | string
    | number
    | boolean
    | readonly string[]
    | readonly number[]
    | readonly (readonly string[])[]
    | WrittenParameter
}

/** A parameter of a read, as `parameterText` has written it, in UTF-8. */
export type WrittenParameter = { readonly written: Buffer }

/** A fragment of SQL with typed parameters; fragments nest. Only `ch` creates one, so no caller's text can become SQL. */
export type Fragment = { readonly parts: readonly string[]; readonly holes: readonly (Value | Fragment)[] }

/** A fragment of SQL: ch`SELECT id FROM clicks WHERE account_id = ${text(accountId)}`. A hole is a typed value or a fragment. */
export function ch(parts: TemplateStringsArray, ...holes: readonly (Value | Fragment)[]): Fragment {
  return { parts, holes }
}

/**
 * A name from the schema that is chosen at run time: a column, a table, a field of the result. Never a caller's text.
 * @throws Error when it is anything but letters, digits and underscores
 */
export function identifier(name: string): Fragment {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Error(`Not an identifier: ${name}`)
  return { parts: [name], holes: [] }
}

export const nothing: Fragment = ch``

/** Joins fragments with a separator; `nothing` for an empty list. */
export function join(
  fragments: readonly Fragment[],
  separator: ', ' | ',\n  ' | '\n  AND ' | ' OR ' | '\nUNION ALL\n' = ', ',
): Fragment {
  if (fragments.length === 0) return nothing
  return { parts: ['', ...Array(fragments.length - 1).fill(separator), ''], holes: fragments }
}

/** An id, a code or a name. */
export const text = (value: string): Value => ({ type: 'String', value })

/** A name that a caller has sent, of a column of the result. */
export const name = (value: string): Value => ({ type: 'Identifier', value })

/** Several ids, for `IN`. */
export const texts = (value: readonly string[]): Value => ({ type: 'Array(String)', value })

/** Times that rows may have, epoch milliseconds, `untilMs` exclusive: whole years that Date and DateTime represent. */
export const storableTimes = { fromMs: Date.UTC(1970, 0, 1), untilMs: Date.UTC(2106, 0, 1) }

/** No row has another time, so one beyond the range is replaced by the nearest limit. */
const onCalendar = (epochMs: number): string =>
  new Date(Math.min(Math.max(epochMs, storableTimes.fromMs), storableTimes.untilMs))
    .toISOString()
    .slice(0, 23)
    .replace('T', ' ')

/** A moment, to the millisecond. */
export const instant = (epochMs: number): Value => ({ type: "DateTime64(3, 'UTC')", value: onCalendar(epochMs) })

/** Several whole numbers from 0. */
export const counts = (value: readonly number[]): Value => ({ type: 'Array(UInt64)', value })

/** Several (moment, id) pairs, for `IN` on a sort key. */
export const instantKeys = (keys: readonly { atMs: number; id: string }[]): Value => ({
  type: "Array(Tuple(DateTime64(3, 'UTC'), String))",
  value: keys.map(({ atMs, id }) => [onCalendar(atMs), id]),
})

/** The UTC day of a moment. */
export const day = (epochMs: number): Value => ({ type: 'Date', value: onCalendar(epochMs).slice(0, 10) })

/** A whole number of either sign, such as a UTC offset in seconds. */
export const integer = (value: number): Value => ({ type: 'Int32', value })

/** A whole number from 0, such as a LIMIT. */
export const count = (value: number): Value => ({ type: 'UInt64', value })

export type Statement = { readonly text: string; readonly params: Record<string, Value['value']> }

/**
 * Renders a fragment to text and parameters, numbered in reading order, so that equal queries have equal text. A value that
 * several fragments share is one parameter, since it may be long.
 * @returns the text with `{p1:Type}` holes and the values of `p1`, `p2`, …
 */
export function render(fragment: Fragment): Statement {
  const params: Statement['params'] = {}
  const known = new Map<Value, string>()
  const write = (fragment: Fragment): string =>
    fragment.parts
      .map((part, index) => {
        const hole = fragment.holes[index]
        if (!hole) return part
        if ('parts' in hole) return part + write(hole)
        const parameter = known.get(hole) ?? `p${known.size + 1}`
        known.set(hole, parameter)
        params[parameter] = hole.value
        return `${part}{${parameter}:${hole.type}}`
      })
      .join('')
  return { text: write(fragment), params }
}
