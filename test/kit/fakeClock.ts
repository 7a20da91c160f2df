import { writeFile } from 'node:fs/promises'
import { fileOf, isInstalled } from './isInstalled.ts'

const library = fileOf('faketime')

export const canFakeClocks = () => isInstalled('faketime')

export type FakeClock = Awaited<ReturnType<typeof createFakeClock>>

/**
 * Creates a wrong clock of a process, by libfaketime, so that the program needs no option for tests.
 * @param file for the offset, in a folder that the caller removes
 */
export async function createFakeClock(file: string) {
  if (!canFakeClocks()) throw new Error('A clock cannot be faked here.')
  await writeFile(file, '+0')
  return {
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      // The offset is read at each call.
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    /** Shifts the clock of the process from the true time, by `-1h` or `+30`; monotonic clocks stay unchanged. */
    set: (offset: string) => writeFile(file, offset),
  }
}
