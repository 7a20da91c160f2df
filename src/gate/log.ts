import type { FastifyReply, FastifyRequest } from 'fastify'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { App } from '../room.ts'
import { hideKeys } from './keyText.ts'

/** Longer addresses are cut in the log; nobody writes them by hand. */
const urlLengthMax = 1_000

/**
 * Opens the log: JSON lines. No line ever carries a key: headers are not logged, and keys in addresses and errors,
 * where they don't belong but may stand, lose their secret.
 */
export function openLog(level: string, destination: DestinationStream): Logger {
  return pino({ level, serializers: { err: (error) => hideKeysIn(pino.stdSerializers.err(error)) } }, destination)
}

/** Logs one line for every answer, when it has left; health checks and the documentation only when they go wrong. */
export function logAnswers(app: App): void {
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
    url: hideKeys((request.raw.url ?? '').slice(0, urlLengthMax)),
    status: reply.statusCode,
    ms: Math.round(reply.elapsedTime * 10) / 10,
    address: request.ip,
    ...(caller && { account: caller.accountId, key: caller.keyId }),
  }
}

function hideKeysIn(error: unknown): unknown {
  return JSON.parse(hideKeys(JSON.stringify(error)))
}
