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
  if ((headers.host === undefined && httpVersion === '1.1') || headerCount({ rawHeaders }, 'host') > 1) {
    return new Problem('invalid_request', 'A request of HTTP/1.1 needs one Host header.')
  }
  return undefined
}

/** How often a request has a header. @param name lower case */
export function headerCount({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length
}
