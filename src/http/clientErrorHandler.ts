import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { v7 as uuidv7 } from 'uuid'
import type { ProblemBody } from '../../schema/problem.ts'
import { Problem } from '../problem.ts'
import { afterRequests, pipelinedMax } from './pipelining.ts'

/**
 * Answers what is no HTTP, or too much of it, or too slow, in the words of the API, and ends the connection. Requests that
 * arrived whole before it are answered first: an answer in the middle of another one would be taken for a part of it.
 * No request exists at this point, so that the answer is written by hand.
 */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { rawPacket } = error as { rawPacket?: Buffer }
  const isHead = rawPacket?.toString('latin1', 0, 5) === 'HEAD '
  afterRequests(socket, () => {
    socket.end(responseTo(problemOf(error.code), isHead))
    // Destroyed at once, the answer could be lost on its way; not destroyed, a sender that goes on keeps it for ever.
    setTimeout(() => socket.destroy(), lingerMs).unref()
  })
}

/**
 * Ends a connection on which too many requests wait, with a response in place of the one in flight unless that has begun.
 * It does not linger: requests that arrive meanwhile would take memory.
 */
export function refuseExcess(socket: Socket, inFlight: ServerResponse): void {
  if (!socket.writable || inFlight.headersSent) {
    socket.destroy()
    return
  }
  const message = `More than ${pipelinedMax} requests wait on this connection; read responses before you send more.`
  socket.end(responseTo(new Problem('invalid_request', message), inFlight.req.method === 'HEAD'), () =>
    socket.destroy(),
  )
}

const lingerMs = 500

const reasons: Record<number, string> = { 408: 'Request Timeout', 431: 'Request Header Fields Too Large' }

/** @param isHead the client takes what follows the headers for the next response */
function responseTo({ code, status, message }: Problem, isHead: boolean): string {
  const requestId = uuidv7()
  const body = JSON.stringify({ error: code, message, requestId } satisfies ProblemBody)
  return [
    `HTTP/1.1 ${status} ${reasons[status] ?? 'Bad Request'}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    '',
    isHead ? '' : body,
  ].join('\r\n')
}

function problemOf(code: string | undefined): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem('headers_too_large', 'The address and the headers together may have 16 KiB.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem('request_timeout', 'The request took too long to arrive.')
    default:
      return new Problem('invalid_request', 'This is no HTTP/1.1 request.')
  }
}
