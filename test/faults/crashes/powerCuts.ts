import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { holds, until } from '../../kit/until.ts'
import { openCrashAccount } from './crashAccount.ts'
import { openCrashStores } from './crashStores.ts'
import type { Trial } from './trials.ts'

const sizeMb = 1_024
const unmountMaxMs = 30_000

/**
 * Cuts the power of both engines right after each acknowledged write, and restarts them.
 * @param writes in order; rows that a write refers to are stored right before it
 * @param create opens stores in an empty folder
 * @returns acknowledged rows that are missing, wrong or stored twice; undefined where mounting is not allowed
 */
export async function cutPower(
  writes: Readonly<Record<string, Trial>>,
  create = (folder: string) => openCrashStores({ folder }),
): Promise<string[] | undefined> {
  const disk = await openDisk()
  if (!disk) return undefined
  const { folder } = disk
  const faults: string[] = []
  try {
    let stores = await create(folder)
    let account = await openCrashAccount(stores)
    try {
      for (const [number, [name, { prepare, write }]] of Object.entries(writes).entries()) {
        await prepare?.(account, [number])
        await write(account, number)
        disk.cutPower()
        await account.close()
        await stores.close()
        await disk.mountAgain()
        stores = await openCrashStores({ folder })
        account = await openCrashAccount(stores, account)
        faults.push(...(await account.differences()).map((line) => `after ${name}: ${line}`))
      }
    } finally {
      await account.close()
      await stores.close()
    }
    return faults
  } finally {
    await disk.close()
  }
}

/**
 * Creates an ext4 file system in a file and mounts it; it can lose data that was not flushed, as in a power cut. Its journal is
 * written only when a program flushes a file, not every few seconds, so that the largest loss that ext4 allows happens.
 * @returns undefined where mounting is not allowed
 */
async function openDisk() {
  const parent = await mkdtemp(join(tmpdir(), 'tributary-disk-'))
  const image = join(parent, 'image')
  const folder = join(parent, 'mounted')
  const mount = () => execFileSync('mount', ['-o', 'loop,commit=3600', image, folder], { stdio: 'pipe' })
  const unmount = () => until(() => holds(() => execFileSync('umount', [folder], { stdio: 'pipe' })), unmountMaxMs)
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
  return {
    folder,
    /** Discards data that was not flushed; later writes do not reach the disk. */
    cutPower: () => execFileSync('python3', ['-c', shutDown, folder]),
    /** Mounts the disk again as it was at the cut. Processes that use it must have ended. */
    async mountAgain(): Promise<void> {
      await unmount()
      mount()
    },
    async close(): Promise<void> {
      await unmount()
      await rm(parent, { recursive: true })
    },
  }
}

/** The ioctl EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: neither files nor the journal are written from then on. */
const shutDown = `
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))`
