import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { v7 as uuidv7 } from 'uuid'
import type { ProblemBody } from '../../schema/errorCodes.ts'
import { Problem } from '../problem.ts'
import { endAndDrain, ending } from './drainBeforeClose.ts'
import { afterRequests, pipelinedMax } from './pipelining.ts'

/**
 * Responds to invalid, oversized or slow HTTP with an error of the API, and closes the connection. Complete requests that
 * arrived before are handled first: bytes in the middle of another response would be read as a part of it. Node has no
 * request object at this point, so the response is written as text.
 */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  const { code, rawPacket } = error as { code?: string; rawPacket?: Buffer }
  // Each further part of the invalid request is another error.
  if (ending.has(socket) && code !== 'ECONNRESET') return
  if (code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  ending.add(socket)
  const isHead = rawPacket?.toString('latin1', 0, 5) === 'HEAD '
  // TRAP: the function may wait for long; a use of `error` in it would keep the received bytes in memory.
  afterRequests(socket, () => endAndDrain(socket, responseTo(connectionProblem(code), isHead)))
}

/**
 * Closes a connection with too many pipelined requests. The error replaces the response in flight unless its headers are
 * sent. There is no grace period: requests that arrive meanwhile would take memory.
 */
export function refuseExcess(socket: Socket, inFlight: ServerResponse): void {
  if (!socket.writable || inFlight.headersSent) {
    socket.destroy()
    return
  }
  const message = `More than ${pipelinedMax} pipelined requests on this connection; read the responses before you send more.`
  socket.end(responseTo(new Problem('invalid_request', message), inFlight.req.method === 'HEAD'), () =>
    socket.destroy(),
  )
}

/** @param isHead the response has no body: the client would read it as the next response */
function responseTo({ code, status, message }: Problem, isHead: boolean): string {
  const requestId = uuidv7()
  const body = JSON.stringify({ error: code, message, requestId } satisfies ProblemBody)
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    '',
    isHead ? '' : body,
  ].join('\r\n')
}

function connectionProblem(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem('headers_too_large', 'The URL and the headers together are larger than 16 KiB.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request_timeout', 'The request did not arrive in time.')
  return new Problem('invalid_request', 'The request is not valid HTTP/1.1.')
}
