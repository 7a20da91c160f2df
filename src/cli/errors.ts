import { causeOf, ExpectedError } from '../expectedError.ts'
import { diskFullOf, Problem } from '../problem.ts'

/** A subcommand failed; the message is one line. Exit code 1. */
export class CommandError extends ExpectedError {}

/** The first signal, which ends the subcommand. */
export class Interruption extends CommandError {
  readonly signal: NodeJS.Signals

  constructor(signal: NodeJS.Signals) {
    super(`interrupted by ${signal}.`)
    this.signal = signal
  }
}

/** Invalid arguments or options; the message is one line that says what is allowed. Exit code 2. */
export class UsageError extends ExpectedError {}

/**
 * Adds to an interruption, or to the outage of a database, what it has left undone.
 * @param state sentences, after the reason
 * @returns other errors unchanged
 */
export function explainOutage(error: unknown, interrupted: AbortSignal, state: string): unknown {
  if (interrupted.aborted) return new CommandError(`interrupted. ${state}`)
  if (!(error instanceof Problem) || error.status !== 503 || diskFullOf(error)) return error
  // An outage that may end by itself has a time for the retry. Otherwise the user needs the reason.
  const reason = error.details.retryAfterS === undefined ? causeOf(error) : 'a database is unavailable'
  return new CommandError(`${reason}. ${state}`)
}

/**
 * Adds what a file system or a database has left undone to its error, or to an interruption.
 * @param state sentences, after the reason
 * @returns bugs unchanged
 */
export function explainExpected(error: unknown, interrupted: AbortSignal, state: string): unknown {
  if (interrupted.aborted) return new CommandError(`interrupted. ${state}`)
  const isExpected = error instanceof ExpectedError || typeof (error as { code?: unknown }).code === 'string'
  return isExpected ? new CommandError(`${causeOf(error)}. ${state}`) : error
}
