import { closeSync, constants, existsSync, openSync, statSync } from 'node:fs'
import { endianness } from 'node:os'
import { callC } from '../cLibrary.ts'

/** The files that a thread may still use. A path is a file, or a folder with all that lies below it. */
export type FileAccess = { readable: readonly string[]; writable: readonly string[] }

/**
 * Permanently confines the calling thread and the threads that it starts: they open only the given files, run no program and
 * connect to no TCP port. Uses Landlock of Linux (5.19; TCP 6.7), without privilege. Missing paths are skipped.
 * @returns false where the system has no such Landlock; nothing is confined then
 * @throws Error when the kernel rejects a supported call
 */
export function confineThread({ readable, writable }: FileAccess): boolean {
  if (process.platform !== 'linux' || endianness() !== 'LE') return false
  const version = systemCall(createRuleset, noPointer, 0, versionFlag)
  // The first version forbids every move of a file to another folder.
  if (version < 2) return false
  const rights = fileRights(version)
  const handled = Buffer.from(BigUint64Array.of(rights, ...(version < 4 ? [] : [connectTcp])).buffer)
  const ruleset = succeeded(systemCall(createRuleset, handled, handled.length, 0))
  try {
    for (const path of readable) allow(ruleset, path, readRights)
    for (const path of writable) allow(ruleset, path, rights & ~execute)
    succeeded(callC('prctl', setNoNewPrivileges, 1, 0, 0, 0).value)
    succeeded(systemCall(restrictSelf, ruleset, 0))
  } finally {
    closeSync(ruleset)
  }
  return true
}

// Numbers of `linux/landlock.h`, `linux/prctl.h` and the system calls, which are the same on all processors.
const createRuleset = 444
const addRule = 445
const restrictSelf = 446
const versionFlag = 1
const pathBeneath = 1
const setNoNewPrivileges = 38
const execute = 1n << 0n
const writeFile = 1n << 1n
const readFile = 1n << 2n
const readDirectory = 1n << 3n
const truncate = 1n << 14n
const connectTcp = 1n << 1n
const readRights = readFile | readDirectory
/** Rights of files; the others apply to folders. */
const rightsOfFiles = readFile | writeFile | truncate

/** All rights that a version of Landlock knows, one bit each; the fifth adds device control, which is not used. */
const fileRights = (version: number): bigint => (1n << (version < 3 ? 14n : 15n)) - 1n

function allow(ruleset: number, path: string, rights: bigint): void {
  if (!existsSync(path)) return
  const granted = statSync(path).isDirectory() ? rights : rights & rightsOfFiles
  const target = openSync(path, pathOnly | constants.O_NONBLOCK)
  try {
    const rule = Buffer.alloc(12)
    rule.writeBigUInt64LE(granted, 0)
    rule.writeInt32LE(target, 8)
    succeeded(systemCall(addRule, ruleset, pathBeneath, rule, 0))
  } finally {
    closeSync(target)
  }
}

/** `O_PATH`, which Node does not name: a reference to a file that is not opened for reading. */
const pathOnly = 0o10000000

const noPointer = 0

/** @returns −1 on failure */
const systemCall = (number: number, ...values: (number | Buffer)[]): number => callC('syscall', number, ...values).value

function succeeded(value: number): number {
  if (value < 0) throw new Error('Landlock rejected the confinement of the engine')
  return value
}
