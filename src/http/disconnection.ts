import type { FastifyReply } from 'fastify'
import type { App } from './context.ts'

/**
 * Makes `request.signal` of every read abort when its client disconnects. TRAP: the framework sees only what happens
 * after the signal is first read, and a client may disconnect before, during the key look-up. A POST is excluded: its
 * signal would abort as soon as the body has been read.
 */
export function observeDisconnections(app: App): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.method !== 'POST') void request.signal
    done()
  })
}

/**
 * Calls `release` when the response has been handed to the operating system, and when its connection has closed, or
 * immediately when that has already happened: further calls must have no effect. A response in flight always has a connection
 * (`oneRequestPerConnection`), so `release` is always called.
 */
export function releaseAfter({ raw }: FastifyReply, release: () => void): void {
  if (raw.destroyed || raw.writableFinished) release()
  else raw.once('finish', release).once('close', release)
}
