/** A row is rejected; the message is the reason, which the rejects file gives beside the row. */
export class RowError extends Error {
  override name = 'RowError'
}
