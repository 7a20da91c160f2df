import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const sizeMb = 1_024
const unmountMaxMs = 30_000

/** A file system of its own that can lose what was not flushed to it, as in a power cut. */
export interface Disk {
  readonly folder: string
  /** From now on nothing reaches the disk any more; what was not flushed is lost. */
  cutPower(): void
  /** Mounts it again, as it is after the cut. Its processes must have ended. */
  mountAgain(): Promise<void>
  close(): Promise<void>
}

/**
 * Makes an ext4 file system in a file and mounts it. Its journal is not written every few seconds but when a program
 * flushes a file: every loss that the file system allows happens.
 * @returns undefined where mounting is not allowed
 */
export async function openDisk(): Promise<Disk | undefined> {
  const place = await mkdtemp(join(tmpdir(), 'tributary-disk-'))
  const image = join(place, 'image')
  const folder = join(place, 'mounted')
  const mount = () => execFileSync('mount', ['-o', 'loop,commit=3600', image, folder], { stdio: 'pipe' })
  try {
    await mkdir(folder)
    execFileSync('truncate', ['-s', `${sizeMb}M`, image])
    execFileSync('mkfs.ext4', ['-q', image], { stdio: 'pipe' })
    mount()
  } catch (error) {
    await rm(place, { recursive: true })
    console.warn(`No power cut: ${(error as Error).message.trim()}`)
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
      await rm(place, { recursive: true })
    },
  }
}

/** The request EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: neither files nor the journal are written any more. */
const shutDown = `
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))`
