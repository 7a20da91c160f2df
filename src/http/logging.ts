import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DestinationStream, type Logger, pino } from 'pino'
import { hideKeys } from '../accounts/keyFormat.ts'
import type { App } from './context.ts'

/** Longer addresses are cut in the log; nobody writes them by hand. */
const urlLengthMax = 1_000

/**
 * Opens the log: JSON lines. No line ever carries a key: headers are not logged, and keys in addresses and errors,
 * where they don't belong but may stand, lose their secret.
 */
export function openLog(level: string, destination: DestinationStream): Logger {
  return pino({ level, serializers: { err: (error) => hideKeysIn(pino.stdSerializers.err(error)) } }, destination)
}

/** Where lines go. */
export type LogDestination = ReturnType<typeof pino.destination>

/** Bytes of lines that wait to be written; more are dropped. */
const bufferedBytesMax = 4 << 20

/**
 * Opens standard error for the log. While it can't be written, as when its disk is full, lines wait and then are dropped;
 * the server goes on.
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
  // TRAP: it tries for ever, and nothing else runs meanwhile; pino calls it for fatal lines and at the end of the process.
  const flushSync = destination.flushSync.bind(destination)
  destination.flushSync = () => {
    if (!isFailing) flushSync()
  }
  return destination
}

/** Logs one line for every answer, when it has left; health checks and the documentation only when they go wrong. */
export function logResponses(app: App): void {
  app.addHook('onResponse', async (request, reply) => {
    request.log[levelOf(request, reply)](lineOf(request, reply), 'answered')
  })
}

function levelOf(request: FastifyRequest, { statusCode }: FastifyReply): 'debug' | 'info' | 'warn' {
  if (statusCode >= 500) return 'warn'
  return statusCode < 400 && !request.routeOptions.config.scope ? 'debug' : 'info'
}

function lineOf(request: FastifyRequest, reply: FastifyReply) {
  const caller = request.caller as typeof request.caller | null
  return {
    method: request.method,
    url: hideKeys(request.raw.url ?? '').slice(0, urlLengthMax),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    address: request.ip,
    ...(caller && { account: caller.accountId, key: caller.keyId }),
  }
}

function hideKeysIn(error: unknown): unknown {
  return JSON.parse(hideKeys(JSON.stringify(error)))
}
