import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const sizeMb = 1_024
const unmountMaxMs = 30_000

/** A file system that can lose data that was not flushed, as in a power cut. */
export interface Disk {
  readonly folder: string
  /** Discards data that was not flushed; later writes do not reach the disk. */
  cutPower(): void
  /** Mounts the disk again as it was at the cut. Processes that use it must have ended. */
  mountAgain(): Promise<void>
  close(): Promise<void>
}

/**
 * Creates an ext4 file system in a file and mounts it. Its journal is written only when a program flushes a file, not every
 * few seconds, so that the largest loss that ext4 allows happens.
 * @returns undefined where mounting is not allowed
 */
export async function openDisk(): Promise<Disk | undefined> {
  const parent = await mkdtemp(join(tmpdir(), 'tributary-disk-'))
  const image = join(parent, 'image')
  const folder = join(parent, 'mounted')
  const mount = () => execFileSync('mount', ['-o', 'loop,commit=3600', image, folder], { stdio: 'pipe' })
  try {
    await mkdir(folder)
    execFileSync('truncate', ['-s', `${sizeMb}M`, image])
    execFileSync('mkfs.ext4', ['-q', image], { stdio: 'pipe' })
    mount()
  } catch (error) {
    await rm(parent, { recursive: true })
    console.warn(`The power cut is skipped: ${(error as Error).message.trim()}`)
    return undefined
  }
  async function unmount(): Promise<void> {
    for (const deadlineMs = performance.now() + unmountMaxMs; ; await sleep(100)) {
      try {
        execFileSync('umount', [folder], { stdio: 'pipe' })
        return
      } catch (error) {
        if (performance.now() > deadlineMs) throw error
      }
    }
  }
  return {
    folder,
    cutPower: () => void execFileSync('python3', ['-c', shutDown, folder]),
    async mountAgain() {
      await unmount()
      mount()
    },
    async close() {
      await unmount()
      await rm(parent, { recursive: true })
    },
  }
}

/** The ioctl EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: neither files nor the journal are written from then on. */
const shutDown = `
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))`
