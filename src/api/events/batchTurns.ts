import type { FastifyReply, FastifyRequest } from 'fastify'
import { ConcurrencyLimiter } from '../../http/concurrencyLimiter.ts'
import { releaseAfter } from '../../http/disconnection.ts'
import { arrivalMaxMs } from '../../http/httpServer.ts'
import { Problem } from '../../problem.ts'

/** Smaller bodies are read at once, bytes: a batch of 1,000 short events. */
const readAtOnceMax = 256 * 1024

/** How long a body may take to arrive while another account waits for its turn, milliseconds. */
const contendedMs = 5_000

/**
 * How long a turn goes on after a body that was rejected or broken off, milliseconds. Receiving 4 MiB takes as long as several
 * reads, and a client can send such bodies without end: its account gets at most ten of these turns per second.
 */
export const rejectedMs = 100

/** Opens the turns of large batches: two bodies are read and parsed at a time, one per account, which limits memory. */
export function openBatchTurns() {
  const turns = new ConcurrencyLimiter({ perAccountMax: () => 1, totalMax: 2, waitMs: arrivalMaxMs / 2, refuse: busy })
  const endOf = new WeakMap<FastifyRequest, () => void>()
  return {
    /**
     * Waits until the body of a request may be read. The turn ends `rejectedMs` after the response at the latest.
     * @throws Problem `unavailable` after half of the time in which a request must arrive
     */
    async wait(request: FastifyRequest, reply: FastifyReply): Promise<void> {
      const { caller, headers } = request
      // A chunked body has no length: it may be large.
      const isChunked = headers['transfer-encoding'] !== undefined
      if (!isChunked && Number(headers['content-length'] ?? 0) <= readAtOnceMax) return
      const release = await turns.acquire(caller.accountId, request.signal)
      const timer = setInterval(() => {
        if (!turns.isContended || request.raw.complete || reply.sent) return
        reply.header('connection', 'close').send(busy())
      }, contendedMs)
      const end = () => {
        clearInterval(timer)
        release()
      }
      endOf.set(request, end)
      releaseAfter(reply, () => setTimeout(end, rejectedMs).unref())
    },
    /** Ends the turn of a request, when its body and the parsed items are no longer needed. */
    end: (request: FastifyRequest) => endOf.get(request)?.(),
  }
}

function busy(): Problem {
  return new Problem('unavailable', 'The server is reading other large batches; retry, or send smaller batches.', {
    retryAfterS: 1,
  })
}
