/** A row is rejected; the message has all reasons, which the rejects file gives beside the row. */
export class RowError extends Error {
  override name = 'RowError'
  readonly reasons: readonly string[]

  constructor(...reasons: string[]) {
    super(reasons.join('; '))
    this.reasons = reasons
  }
}

/** The row belongs to a month that the account has removed. */
export class RemovedMonthError extends RowError {
  override name = 'RemovedMonthError'
}
