/** A row is rejected; the message is the reason, which the rejects file gives beside the row. */
export class RowError extends Error {
  override name = 'RowError'
}

/** The row belongs to a month that the account has removed. */
export class RemovedMonthError extends RowError {
  override name = 'RemovedMonthError'
}
