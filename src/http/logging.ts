import { type DestinationStream, type Logger, pino } from 'pino'
import { hideKeys } from '../accounts/keyFormat.ts'
import type { App } from './context.ts'

/** Longer URLs are truncated in the log. */
const urlLengthMax = 1_000

/**
 * Opens the log: JSON lines, with times in ISO 8601. No line contains an API key: headers are not logged, and the secrets of
 * keys in URLs and errors are masked.
 */
export function openLog(level: string, destination: DestinationStream): Logger {
  const err = (error: Error) => JSON.parse(hideKeys(JSON.stringify(pino.stdSerializers.err(error))))
  return pino({ level, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err } }, destination)
}

export type LogDestination = ReturnType<typeof pino.destination>

/** Limit of the write buffer, bytes; more lines are dropped. */
const bufferedBytesMax = 4 << 20

/**
 * Opens standard error for the log. While it cannot be written (such as with a full disk), lines are buffered, then dropped;
 * the server continues.
 */
export function openLogDestination(): LogDestination {
  const destination = pino.destination({ fd: 2, sync: false, maxLength: bufferedBytesMax })
  let isFailing = false
  destination.on('error', () => {
    isFailing = true
  })
  destination.on('write', () => {
    isFailing = false
  })
  // TRAP: it retries forever and blocks the process; pino calls it for fatal lines and at exit.
  const flushSync = destination.flushSync.bind(destination)
  destination.flushSync = () => {
    if (!isFailing) flushSync()
  }
  return destination
}

/** Logs one line for every response after it is sent; health checks and the documentation only on errors (else at debug level). */
export function logResponses(app: App): void {
  app.addHook('onResponse', async (request, reply) => {
    const status = reply.statusCode
    const isRoutine = status < 400 && !request.routeOptions.config.scope
    const level = status >= 500 ? 'warn' : isRoutine ? 'debug' : 'info'
    const caller = request.caller as typeof request.caller | null
    const line = {
      method: request.method,
      url: hideKeys(request.raw.url ?? '').slice(0, urlLengthMax),
      status,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      address: request.ip,
      ...(caller && { account: caller.accountId, key: caller.keyId }),
    }
    request.log[level](line, 'request completed')
  })
}
