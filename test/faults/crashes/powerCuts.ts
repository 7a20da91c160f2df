import { CrashAccount } from './crashAccount.ts'
import { openCrashStores } from './crashStores.ts'
import type { Disk } from './disk.ts'
import type { Trial } from './trials.ts'

/**
 * Cuts the power of both engines right after each acknowledged write, and restarts them.
 * @param writes in order; rows that a write refers to are stored right before it
 * @param create opens stores in an empty folder
 * @returns acknowledged rows that are missing, wrong or stored twice
 */
export async function cutPower(
  disk: Disk,
  writes: Readonly<Record<string, Trial>>,
  create = (folder: string) => openCrashStores({ folder }),
): Promise<string[]> {
  let stores = await create(disk.folder)
  let account = await CrashAccount.open(stores)
  const faults: string[] = []
  try {
    for (const [number, [name, { prepare, write }]] of Object.entries(writes).entries()) {
      await prepare?.(account, [number])
      await write(account, number)
      disk.cutPower()
      await account.close()
      await stores.close()
      await disk.mountAgain()
      stores = await openCrashStores({ folder: disk.folder })
      account = await account.moveTo(stores)
      faults.push(...(await account.differences()).map((line) => `after ${name}: ${line}`))
    }
    return faults
  } finally {
    await account.close()
    await stores.close()
  }
}
