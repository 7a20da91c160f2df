import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'

/** The wrong clock of a process, by libfaketime, so that the program needs no option for tests. */
export interface FakeClock {
  /** Environment of the process. */
  readonly environment: Record<string, string>
  /** Shifts the clock of the process from the true time, by `-1h` or `+30`; monotonic clocks stay unchanged. */
  set(offset: string): Promise<void>
}

/** The path of Debian's package. */
const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

/** Whether libfaketime is installed. @throws Error on CI when it is not */
export function canFakeClocks(): boolean {
  if (existsSync(library)) return true
  const missing = `${library} does not exist: install Debian's faketime to run these tests.`
  if (process.env.CI) throw new Error(missing)
  console.warn(missing)
  return false
}

/** @param file for the offset, in a folder that the caller removes */
export async function createFakeClock(file: string): Promise<FakeClock> {
  if (!existsSync(library)) throw new Error("A fake clock needs Debian's libfaketime: apt-get install faketime.")
  await writeFile(file, '+0')
  return {
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      // The offset is read at each call.
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set: (offset) => writeFile(file, offset),
  }
}
