/**
 * What became of a row. `duplicate`: it changes nothing; `older`: so, since the stored row has a later `updatedAt`; `conflict`: so,
 * though it gives other values than the stored row, which is not newer.
 */
export type RowOutcome = 'inserted' | 'updated' | 'duplicate' | 'older' | 'conflict'
