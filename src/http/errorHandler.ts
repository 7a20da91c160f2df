import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProblemBody } from '../../schema/errorCodes.ts'
import { Problem } from '../problem.ts'

/** Sends the response to an error: a Problem as it is, an error of the framework as a Problem, any other as `internal_error`. */
export function handleError(thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toProblem(thrown, request)
  const { param, required, retryAfterS, allow } = problem.details
  if (problem.status === 401) reply.header('www-authenticate', 'ApiKey')
  if (retryAfterS !== undefined) reply.header('retry-after', retryAfterS)
  if (allow) reply.header('allow', allow.join(', '))
  const { code: error, message } = problem
  // A field that is undefined is absent in JSON.
  const body = { error, message, requestId: request.id, param, required } satisfies Record<keyof ProblemBody, unknown>
  reply.removeHeader('content-disposition')
  reply.header('x-request-id', request.id).code(problem.status).send(body)
}

/** Logs an error. @returns it as a Problem */
export function toProblem(error: unknown, request: FastifyRequest): Problem {
  const problem = problemOf(error, request)
  logError(error, problem, request)
  return problem
}

/** Errors after a disconnection are its consequence and are not logged as errors. */
function logError(error: unknown, { code, message }: Problem, { log, raw, method, routeOptions }: FastifyRequest) {
  // TRAP: a request is also destroyed once its whole body was read.
  if ((raw.destroyed && !raw.complete) || raw.socket.destroyed)
    log.info({ method, route: routeOptions.url }, 'request aborted')
  else if (isOutOfFiles(error)) log.error({ err: error }, 'out of file descriptors: raise the limit of open files')
  else if (code === 'internal_error') log.error(error, 'internal error')
  else if (code === 'unavailable') log.warn({ reason: message }, 'request failed')
}

const isOutOfFiles = (error: unknown) => ['EMFILE', 'ENFILE'].includes(`${(error as { code?: unknown } | null)?.code}`)

function problemOf(error: unknown, { routeOptions }: FastifyRequest): Problem {
  if (error instanceof Problem) return error
  if (isOutOfFiles(error)) {
    return new Problem('unavailable', 'The server has no capacity at the moment; try again.', { retryAfterS: 5 })
  }
  const { code, statusCode } = error as { code?: unknown; statusCode?: unknown }
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return new Problem('payload_too_large', `The body is larger than ${(routeOptions.bodyLimit ?? 0) / 1024} KiB.`)
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
    return new Problem(
      'unsupported_media_type',
      'Send the body as Content-Type: application/json; POST /events/batch also accepts application/x-ndjson.',
    )
  if (code === 'FST_ERR_CTP_EMPTY_JSON_BODY' || code === 'FST_ERR_CTP_INVALID_JSON_BODY')
    return new Problem('invalid_json', 'The body is not JSON.')
  if (code === 'FST_ERR_BAD_URL') return new Problem('invalid_url', 'The path is not percent-encoded UTF-8.')
  if (statusCode === 404) return new Problem('not_found', 'No such path.')
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500) {
    return new Problem('invalid_request', 'The request could not be read.')
  }
  return new Problem('internal_error', 'Internal server error; include the request id in a support request.')
}
