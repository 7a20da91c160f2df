/** A row is rejected; the message has all reasons, which the rejects file gives beside the row. */
export class RowError extends Error {
  override name = 'RowError'
  readonly reasons: readonly string[]

  constructor(...reasons: string[]) {
    super(reasons.join('; '))
    this.reasons = reasons
  }
}

/** A value that another option of an import makes valid. */
export class InvalidValue extends RowError {
  override name = 'InvalidValue'
  readonly remedy: (field: string, text: string) => string

  /** @param remedy names the option, given the field and the value */
  constructor(message: string, remedy: InvalidValue['remedy']) {
    super(message)
    this.remedy = remedy
  }
}

export const hashing = (): string => '--hash-ids stores other ids as their SHA-256'
export const replacing = (field: string, text: string): string => `--values '${field}:${text}=…' replaces it`

/** The row belongs to a month that the account has removed. */
export class RemovedMonthError extends RowError {
  override name = 'RemovedMonthError'
}
