import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'

/** A clock that is put wrong under a process, by libfaketime, so that the program needs no switch for it. */
export interface FalseClock {
  /** What the process is started with. */
  readonly environment: Record<string, string>
  /** Moves the clock of the process, `-1h` or `+30`, from the true time; clocks that only measure are left alone. */
  set(offset: string): Promise<void>
}

/** Where Debian's package puts it. */
const library = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1'

/** Whether tests put clocks wrong here; false where libfaketime is not installed. @throws Error on CI, where it must be */
export function mayFalsifyClocks(): boolean {
  if (existsSync(library)) return true
  const missing = `${library} is not there: install Debian's faketime to run these tests.`
  if (process.env.CI) throw new Error(missing)
  console.warn(missing)
  return false
}

/** @param file holds the offset; in a folder of the caller's */
export async function makeFalseClock(file: string): Promise<FalseClock> {
  if (!existsSync(library)) throw new Error("Clocks are put wrong by Debian's libfaketime: apt-get install faketime.")
  await writeFile(file, '+0')
  return {
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      // The file is read whenever the time is.
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set: (offset) => writeFile(file, offset),
  }
}
