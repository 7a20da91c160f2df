import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { holds, until } from '../../kit/until.ts'
import { openCrashAccount } from './crashAccount.ts'
import { type CrashStores, openCrashStores } from './crashStores.ts'
import type { Trial } from './trials.ts'

const sizeMb = 1_024
const unmountMaxMs = 30_000

/** A folder for stores: on a disk whose power can be cut, where mounting is allowed. */
export type Disk = Awaited<ReturnType<typeof openDisk>>

/**
 * Cuts the power of both engines right after each acknowledged write, and restarts them.
 * @param writes in order; rows that a write refers to are stored right before it
 * @param opened stores in the folder of the disk, which are closed
 * @returns acknowledged rows that are missing, wrong or stored twice
 */
export async function cutPower(
  { folder, mounted }: Disk,
  opened: CrashStores,
  writes: Readonly<Record<string, Trial>>,
): Promise<string[]> {
  if (!mounted) throw new Error('Mounting a disk is not allowed here.')
  const faults: string[] = []
  let stores = opened
  let account = await openCrashAccount(stores)
  try {
    for (const [number, [name, { prepare, write }]] of Object.entries(writes).entries()) {
      await prepare?.(account, [number])
      await write(account, number)
      mounted.cutPower()
      await account.close()
      await stores.close()
      await mounted.mountAgain()
      stores = await openCrashStores({ folder })
      account = await openCrashAccount(stores, account)
      faults.push(...(await account.differences()).map((line) => `after ${name}: ${line}`))
    }
  } finally {
    await account.close()
    await stores.close()
  }
  return faults
}

/**
 * Makes a folder. Where mounting is allowed, it is an ext4 file system in a file, which can lose data that was not flushed, as in a
 * power cut. Its journal is written only when a program flushes a file, not every few seconds, so that the largest loss that ext4
 * allows happens.
 */
export async function openDisk() {
  const parent = await mkdtemp(join(tmpdir(), 'tributary-disk-'))
  const image = join(parent, 'image')
  const folder = join(parent, 'mounted')
  const mount = () => execFileSync('mount', ['-o', 'loop,commit=3600', image, folder], { stdio: 'pipe' })
  const unmount = () => until(() => holds(() => execFileSync('umount', [folder], { stdio: 'pipe' })), unmountMaxMs)
  const mounted = {
    /** Discards data that was not flushed; later writes do not reach the disk. */
    cutPower: () => execFileSync('python3', ['-c', shutDown, folder]),
    async mountAgain(): Promise<void> {
      await unmount()
      mount()
    },
  }
  let isMounted = false
  await mkdir(folder)
  try {
    execFileSync('truncate', ['-s', `${sizeMb}M`, image])
    execFileSync('mkfs.ext4', ['-q', image], { stdio: 'pipe' })
    mount()
    isMounted = true
  } catch (error) {
    console.warn(`The power cut is skipped: ${(error as Error).message.trim()}`)
  }
  return {
    folder,
    mounted: isMounted ? mounted : undefined,
    async close(): Promise<void> {
      if (isMounted) await unmount()
      await rm(parent, { recursive: true, maxRetries: 40, retryDelay: 250 })
    },
  }
}

/** The ioctl EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH: neither files nor the journal are written from then on. */
const shutDown = `
import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack('I', 2))`
