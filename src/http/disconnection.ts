import type { FastifyReply } from 'fastify'
import type { App } from './context.ts'

/**
 * Makes `request.signal` of every read abort when its client disconnects. TRAP: the framework sees only what happens
 * after the signal was first asked for, and a client may leave before, while its key is looked up. A POST has none: there
 * the signal would abort as soon as the body has been read.
 */
export function observeDisconnections(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.method !== 'POST') void request.signal
    done()
  })
}

/**
 * Runs `release` once: when the response has been handed to the operating system or its connection has closed, and at once
 * when that has happened. A response in flight always has its connection (`oneRequestPerConnection`), so this always comes.
 */
export function releaseAfter({ raw }: FastifyReply, release: () => void): void {
  let isReleased = false
  const once = () => {
    if (!isReleased) release()
    isReleased = true
  }
  if (raw.destroyed || raw.writableFinished) once()
  else raw.once('finish', once).once('close', once)
}
