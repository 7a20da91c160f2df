import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { cp, mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { inject } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { lockFile } from '../../src/stores/embedded/fileLock.ts'
import { migrate } from '../../src/stores/migrations/migrate.ts'
import { openStores } from '../../src/stores/open.ts'

/** The template of the last run: creating one takes as long as a hundred tests. */
const cache = join(packageRoot, 'node_modules/.cache/engine-template')
/** What a template is created from. Its folder in the cache has their hash as its name. */
const sources = ['clickhouse', 'postgres', 'src/stores', 'package-lock.json']

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
  await mkdir(cache, { recursive: true })
  const unlock = await lockFile(`${cache}.lock`, 300_000)
  if (!unlock) throw new Error('Another process did not fill the template of the engines in time.')
  try {
    if (existsSync(`${template}.filled`)) return
    const cached = join(cache, hashOfSources())
    if (existsSync(cached)) await cp(cached, template, { recursive: true })
    else {
      await fill(template)
      await rm(cache, { recursive: true })
      await cp(template, join(cache, 'new'), { recursive: true, filter: (path) => basename(path) !== 'run' })
      await rename(join(cache, 'new'), cached)
    }
    await writeFile(`${template}.filled`, '')
  } finally {
    unlock()
  }
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  for (const source of sources) {
    const path = join(packageRoot, source)
    const names = statSync(path).isDirectory() ? readdirSync(path, { recursive: true, encoding: 'utf8' }).sort() : ['']
    for (const file of names.map((name) => join(path, name)).filter((name) => statSync(name).isFile()))
      hash.update(file.slice(packageRoot.length)).update(readFileSync(file))
  }
  return hash.digest('hex')
}

async function fill(folder: string): Promise<void> {
  const stores = await openStores(readSettings({ DATA_DIR: folder }), () => {})
  await migrate(stores)
  await stores.close()
  // With this lock the engines have ended, and none starts on the template again.
  const ended = await lockFile(join(folder, 'run', 'supervisor.lock'), 30_000)
  if (!ended) throw new Error('The engines of the template did not end.')
}
