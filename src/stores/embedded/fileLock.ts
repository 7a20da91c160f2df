import { openSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { DataType, load, open } from 'ffi-rs'

const exclusive = 2
const withoutWaiting = 4
const pauseMs = 50
/** EWOULDBLOCK of Linux and of macOS. */
const takenCodes = [11, 35]

/**
 * Takes the kernel's lock on a file (`flock(2)`) for the rest of this process's life. It ends with the process however
 * that dies, so a lock is never stale; the file itself stays and means nothing.
 * @param waitMs how long to try when another process holds it
 * @returns false when another process still holds it
 */
export async function lockFile(path: string, waitMs: number): Promise<boolean> {
  // The descriptor is never closed, that would let go; Node opens it close-on-exec, so no child inherits it.
  const descriptor = openSync(path, 'a', 0o600)
  const deadline = Date.now() + waitMs
  for (;;) {
    if (flock(descriptor)) return true
    if (Date.now() >= deadline) return false
    await sleep(pauseMs)
  }
}

/** Flushes what all programs have written (`sync(2)`). */
export function syncDisks(): void {
  openLibrary()
  load({ library, funcName: 'sync', retType: DataType.Void, paramsType: [], paramsValue: [] })
}

function flock(descriptor: number): boolean {
  openLibrary()
  const { value, errnoCode, errnoMessage } = load<DataType.I32, true>({
    library,
    funcName: 'flock',
    retType: DataType.I32,
    paramsType: [DataType.I32, DataType.I32],
    paramsValue: [descriptor, exclusive | withoutWaiting],
    errno: true,
  })
  if (value === 0) return true
  if (takenCodes.includes(errnoCode)) return false
  throw new Error(`flock: ${errnoMessage}`)
}

const library = 'self'

/** The empty path is this program itself, which has the C library in it. */
function openLibrary(): void {
  open({ library, path: '' })
}
