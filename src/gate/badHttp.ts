import type { Socket } from 'node:net'
import { v7 as uuidv7 } from 'uuid'
import type { ProblemBody } from '../../schema/problem.ts'
import { Problem } from '../problem.ts'

/**
 * Answers what is no HTTP, or too much of it, or too slow, in the words of the API, and ends the connection.
 * No request exists at this point, so that the answer is written by hand.
 */
export function answerBadHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const { code, status, message } = problemOf(error.code)
  const { rawPacket } = error as { rawPacket?: Buffer }
  const requestId = uuidv7()
  const body = JSON.stringify({ error: code, message, requestId } satisfies ProblemBody)
  socket.end(
    [
      `HTTP/1.1 ${status} ${reasons[status] ?? 'Bad Request'}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      '',
      // Whoever asks HEAD takes what follows the headers for the next answer.
      rawPacket?.toString('latin1', 0, 5) === 'HEAD ' ? '' : body,
    ].join('\r\n'),
  )
  // Destroyed at once, the answer could be lost on its way; not destroyed, a sender that goes on keeps it for ever.
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

const lingerMs = 500

const reasons: Record<number, string> = { 408: 'Request Timeout', 431: 'Request Header Fields Too Large' }

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
