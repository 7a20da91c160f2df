/** Why a row is not taken, in one sentence; it goes to the rejects file beside the row. */
export class RowError extends Error {
  override name = 'Refusal'
}
