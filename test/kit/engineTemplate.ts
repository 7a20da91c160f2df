import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inject } from 'vitest'
import { readSettings } from '../../src/settings.ts'
import { lockFile } from '../../src/stores/embedded/fileLock.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores } from '../../src/stores/open.ts'

let filled: Promise<void> | undefined

/**
 * Fills a folder of the embedded engines and migrates it, once in a run of the suite: in the first process that needs it.
 * @returns the folder, which test files copy
 */
export async function engineTemplate(): Promise<string> {
  const { template } = inject('engines')
  filled ??= fillOnce(template)
  await filled
  return template
}

async function fillOnce(template: string): Promise<void> {
  const unlock = await lockFile(`${template}.lock`, 300_000)
  if (!unlock) throw new Error('Another process did not fill the template of the engines in time.')
  try {
    if (existsSync(`${template}.filled`)) return
    await fill(template)
    await writeFile(`${template}.filled`, '')
  } finally {
    unlock()
  }
}

async function fill(folder: string): Promise<void> {
  const stores = await openStores(readSettings({ DATA_DIR: folder }), () => {})
  await migrate(stores)
  await stores.close()
  // With this lock the engines have ended, and none starts on the template again.
  const ended = await lockFile(join(folder, 'run', 'supervisor.lock'), 30_000)
  if (!ended) throw new Error('The engines of the template did not end.')
}
