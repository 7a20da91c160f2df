/** A ClickHouse type name as it appears in `{p1:Type}`. */
type ClickHouseType = string

/** A value on its way into SQL: always a typed parameter, never text. */
export interface Value {
  readonly type: ClickHouseType
  readonly value: string | number | boolean | readonly string[] | readonly (readonly string[])[]
}

/** A piece of SQL with typed holes; pieces nest. Only `ch` makes one, so that no caller's text can become SQL. */
export interface Fragment {
  readonly parts: readonly string[]
  readonly holes: readonly (Value | Fragment)[]
}

/**
 * Writes a piece of SQL: ch`SELECT id FROM clicks WHERE account_id = ${id(accountId)}`.
 * A hole takes a typed value or another piece.
 */
export function ch(parts: TemplateStringsArray, ...holes: readonly (Value | Fragment)[]): Fragment {
  return { parts, holes }
}

/** Nothing; for pieces that a question does not need. */
export const nothing: Fragment = ch``

/** Joins pieces with a separator that is itself SQL, `nothing` for an empty list. */
export function join(
  pieces: readonly Fragment[],
  separator: ', ' | '\n  AND ' | ' OR ' | '\nUNION ALL\n' | ' + ',
): Fragment {
  if (pieces.length === 0) return nothing
  return { parts: ['', ...Array(pieces.length - 1).fill(separator), ''], holes: pieces }
}

/** An id, a code or a name. */
export const text = (value: string): Value => ({ type: 'String', value })

/** Several ids, for `IN`. */
export const texts = (value: readonly string[]): Value => ({ type: 'Array(String)', value })

/** A moment, to the millisecond. */
export const instant = (epochMs: number): Value => ({
  type: "DateTime64(3, 'UTC')",
  value: new Date(epochMs).toISOString().slice(0, 23).replace('T', ' '),
})

/** Several (moment, id) pairs, for `IN` on a sort key. */
export const instantKeys = (keys: readonly { atMs: number; id: string }[]): Value => ({
  type: "Array(Tuple(DateTime64(3, 'UTC'), String))",
  value: keys.map(({ atMs, id }) => [instant(atMs).value as string, id]),
})

/** A calendar day, `2026-11-21`. */
export const day = (value: string): Value => ({ type: 'Date', value })

/** A whole number from 0, such as a LIMIT. */
export const count = (value: number): Value => ({ type: 'UInt64', value })

/** A rendered statement: its text and the parameters that go beside it. */
export interface Statement {
  readonly text: string
  readonly params: Record<string, Value['value']>
}

/**
 * Renders a piece to text and parameters, numbered in reading order, so that equal questions give equal text.
 * @returns the text with `{p1:Type}` holes and the values of `p1`, `p2`, …
 */
export function render(fragment: Fragment): Statement {
  const params: Statement['params'] = {}
  let counter = 0
  const write = (piece: Fragment): string =>
    piece.parts
      .map((part, index) => {
        const hole = piece.holes[index]
        if (!hole) return part
        if ('parts' in hole) return part + write(hole)
        counter += 1
        params[`p${counter}`] = hole.value
        return `${part}{p${counter}:${hole.type}}`
      })
      .join('')
  return { text: write(fragment), params }
}
