import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { Logger } from 'pino'
import type { LogDestination } from '../http/logging.ts'

/** Time for in-flight responses after a signal. */
const graceMs = 25_000

/** Time to write the last log lines. */
const lastLineMs = 1_000

/**
 * Handles signals and fatal errors from now on: closes all resources, then ends the process with 0 after a signal, and with 1
 * after an error, after a second signal, or if closing takes longer than 25 s. TRAP: a signal without a handler does not end
 * the first process of a container, so call this before anything that takes long.
 */
export function shutDownGracefully(log: Logger, destination: LogDestination) {
  const closers: (() => unknown)[] = []
  const closeAll = async () => {
    for (const close of closers.splice(0)) await close()
  }
  const { uninstall } = closeWithGrace(
    { delay: graceMs, logger: log, skip: ignoredEvents },
    async ({ err, signal }) => {
      shutdown.hasBegun = true
      if (err) log.fatal(err, 'fatal error: the server shuts down')
      else log.info(`${signal} received: finishing in-flight requests`)
      await closeAll()
      log.info('stopped')
      // TRAP: flushSync() would overtake the line that is being written, and pino never reports its end if the reader of a
      // pipe has disconnected. Lines that cannot be written in time are lost.
      destination.end()
      const written = once(destination, 'close').catch(() => {})
      await Promise.race([written, sleep(lastLineMs, undefined, { ref: false })])
    },
  )
  const shutdown = {
    /** Whether a signal or a fatal error has started the shutdown. */
    hasBegun: false,
    /** Adds a resource, which is closed before all resources added earlier. */
    closeFirst: (close: () => unknown) => void closers.unshift(close),
    /** Closes all resources after a failed start and removes the signal handlers. */
    close: async () => {
      uninstall()
      await closeAll()
    },
  }
  return shutdown
}

/** Signals that end the server. SIGHUP keeps its inherited disposition, so that nohup works. A handler of a processor fault would run forever. */
const handledSignals = ['SIGINT', 'SIGQUIT', 'SIGTERM']
const otherSignals = Object.keys(constants.signals).filter((name) => !handledSignals.includes(name))
/** Events that close-with-grace must not handle; `beforeExit` ends the process anyway. */
const ignoredEvents = [...otherSignals, 'beforeExit'] as closeWithGrace.AllEvents[]
