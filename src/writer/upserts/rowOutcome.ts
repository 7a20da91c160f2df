/**
 * What became of a row. `duplicate`: it changes nothing; `older`: so, since the stored row has a later `updatedAt`; `conflict`: so,
 * though it gives other values than the stored row, which is not newer. The first field that differs follows, if the stored row is known.
 */
export type RowOutcome = 'inserted' | 'updated' | 'duplicate' | 'older' | `conflict ${string}`

/** @param field undefined: no row is stored, and its id is taken */
export function conflict(field = ''): RowOutcome {
  return `conflict ${field}`
}

/** @returns the field that differs, empty if the stored row is not known; undefined for another outcome */
export function conflictingField(outcome: RowOutcome | undefined): string | undefined {
  return outcome?.startsWith('conflict ') ? outcome.slice('conflict '.length) : undefined
}
