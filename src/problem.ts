import type { ProblemCode } from '../schema/problem.ts'
import { statusOfProblem } from '../schema/problem.ts'

/** What a problem may carry beside its code and sentence. */
export interface ProblemDetails {
  /** The query parameter or body field at fault. */
  param?: string
  /** The scope that the key lacks. */
  required?: string
  /** Seconds after which a retry makes sense, at least 1; sent as `Retry-After`. */
  retryAfterS?: number
  /** The methods that the path does answer; sent as `Allow`. */
  allow?: readonly string[]
}

/**
 * An answer that is not 2xx, thrown where it is known and turned into a body once, in `app.ts`.
 * The code is the promise to callers; the message may change.
 */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly status: number
  readonly details: ProblemDetails

  constructor(code: ProblemCode, message: string, details: ProblemDetails = {}) {
    super(message)
    this.name = 'Problem'
    this.code = code
    this.status = statusOfProblem(code)
    this.details = details
  }
}

/** The answer for a single item that is absent, somebody else's, or can't exist: one sentence, so that they look alike. */
export function notFound(): Problem {
  return new Problem('not_found', 'There is nothing under this id.')
}
