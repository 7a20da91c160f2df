import { closeSync, openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { callC } from './cLibrary.ts'

const exclusive = 2
const withoutWaiting = 4
const pauseMs = 50
/** EWOULDBLOCK of Linux and of macOS. */
const lockedCodes = [11, 35]

/**
 * Acquires the kernel's lock on a file (`flock(2)`) until this process ends in any way. The content of the file has no meaning.
 * @param waitMs how long to retry while another process holds it
 * @returns a function that releases it; undefined when another process still holds it
 */
export async function lockFile(path: string, waitMs: number): Promise<(() => void) | undefined> {
  // Closing the descriptor releases the lock. Node opens it close-on-exec, so no child inherits it.
  const descriptor = openSync(path, 'a', 0o600)
  const deadline = Date.now() + waitMs
  for (;;) {
    if (flock(descriptor)) return () => closeSync(descriptor)
    if (Date.now() >= deadline) {
      closeSync(descriptor)
      return undefined
    }
    await sleep(pauseMs)
  }
}

/** Flushes the writes of all programs (`sync(2)`). */
export function syncDisks(): void {
  callC('sync')
}

function flock(descriptor: number): boolean {
  const { value, errnoCode, errnoMessage } = callC('flock', descriptor, exclusive | withoutWaiting)
  if (value === 0) return true
  if (lockedCodes.includes(errnoCode)) return false
  throw new Error(`flock: ${errnoMessage}`)
}
