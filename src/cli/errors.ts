/** A verb that could not do what it was asked for, for a reason that one line tells; exit 1. */
export class CommandError extends Error {
  override name = 'Failure'
}

/** A verb that was called in a way that can't be meant; one line says what is allowed; exit 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}
