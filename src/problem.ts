import { type ProblemBody, type ProblemCode, statusOfProblem } from '../schema/errorCodes.ts'
import type { Scope } from '../schema/scopes.ts'
import { ExpectedError } from './expectedError.ts'

export interface ProblemDetails extends Pick<ProblemBody, 'param' | 'required'> {
  /** Seconds to wait before a retry, at least 1; sent as `Retry-After`. */
  retryAfterS?: number
  /** Methods that the path supports; sent as `Allow`. */
  allow?: readonly string[]
}

/**
 * An error response, thrown where the error is known and sent by `http/errorHandler.ts`.
 * Clients may rely on the code; the message may change.
 */
export class Problem extends ExpectedError {
  readonly code: ProblemCode
  readonly status: number
  readonly details: ProblemDetails

  constructor(code: ProblemCode, message: string, details: ProblemDetails = {}) {
    super(message)
    this.code = code
    this.status = statusOfProblem(code)
    this.details = details
  }
}

/** Whether a database does not respond, cannot store rows, or has too much work; a later attempt may succeed. */
export function isUnavailable(error: unknown): error is Problem {
  return error instanceof Problem && error.status === 503
}

/** A database cannot store rows: its disk is full, or has no free inode. Its disk may stay full for long, so commands do not wait. */
export class DiskFull extends Problem {
  readonly database: string

  /** @param cause the error of the driver */
  constructor(database: string, cause: unknown) {
    super('unavailable', `${database} cannot write to its disk; free space on it.`, { retryAfterS: 5 })
    this.database = database
    this.cause = cause
  }
}

/** @returns the full disk that is an error, or its cause */
export function diskFullOf(error: unknown): DiskFull | undefined {
  return [error, (error as Error | undefined)?.cause].find((one) => one instanceof DiskFull)
}

/** The error `invalid_<parameter>`. @param rest completes the sentence that starts with the name of the parameter or field */
export function invalidParameter(param: string, rest: string): Problem {
  return new Problem(`invalid_${param}`, `${param} ${rest}`, { param })
}

/** The error for a key without a scope. */
export function lacksScope(scope: Scope): Problem {
  return new Problem('insufficient_scope', `This API key lacks the scope ${scope}.`, { required: scope })
}

/** The error for an item that does not exist, belongs to another account, or has an invalid id: indistinguishable. */
export function notFound(): Problem {
  return new Problem('not_found', 'No item with this id.')
}
