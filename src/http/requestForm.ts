import type { IncomingMessage } from 'node:http'
import { Problem } from '../problem.ts'
import type { App } from './context.ts'

/** Limit of the headers of a request. */
const headersMax = 1_000

/** Refuses requests that Node accepts, but other servers on the way may read in another way. */
export function refuseAmbiguousRequests(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    const problem = problemOf(request.raw)
    if (problem) reply.header('connection', 'close')
    done(problem)
  })
}

function problemOf({ headers, rawHeaders, httpVersion }: IncomingMessage): Problem | undefined {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') {
    return new Problem('invalid_request', 'The request is not valid HTTP/1.1.')
  }
  if (rawHeaders.length > 2 * headersMax) {
    return new Problem('headers_too_large', `The request has more than ${headersMax} headers.`)
  }
  const isHost = (text: string, index: number) => index % 2 === 0 && text.toLowerCase() === 'host'
  if ((headers.host === undefined && httpVersion === '1.1') || rawHeaders.filter(isHost).length > 1) {
    return new Problem('invalid_request', 'A request of HTTP/1.1 needs one Host header.')
  }
  return undefined
}
