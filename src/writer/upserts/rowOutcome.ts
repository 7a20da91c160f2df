/**
 * What became of a row. `duplicate`: it changes nothing. `older`: ignored, the stored row is newer. `conflict`: ignored, it differs from a
 * stored row that is not newer; the first field that differs follows, if the stored row is known. `rejected`: the stored rows do not allow
 * it; the reason follows.
 */
export type RowOutcome = 'inserted' | 'updated' | 'duplicate' | 'older' | `conflict ${string}` | `rejected ${string}`

/** @param field undefined: no row is stored, and its id is taken */
export function conflict(field = ''): RowOutcome {
  return `conflict ${field}`
}

/** @returns what follows the kind of an outcome; undefined for another kind */
export function detailOf(kind: 'conflict' | 'rejected', outcome: RowOutcome | undefined): string | undefined {
  return outcome?.startsWith(`${kind} `) ? outcome.slice(kind.length + 1) : undefined
}
