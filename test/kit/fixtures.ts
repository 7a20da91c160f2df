import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { openTestStores, type TestStores } from './stores.ts'

/**
 * Opens something before the tests of a file or a `describe`, and closes it after them.
 * @param open returns an object whose methods use no `this`
 * @returns it, usable from the next hooks on
 */
export function useOpened<Opened extends { close(): unknown }>(open: () => Promise<Opened>): Opened {
  let opened: Opened | undefined
  beforeAll(async () => {
    opened = await open()
  })
  afterAll(() => opened?.close())
  const present = (): Opened => {
    if (!opened) throw new Error('It opens in beforeAll.')
    return opened
  }
  return new Proxy({} as Opened, {
    get: (_target, name) => Reflect.get(present(), name),
    // For spreads.
    ownKeys: () => Reflect.ownKeys(present()),
    getOwnPropertyDescriptor: (_target, name) => ({
      ...Reflect.getOwnPropertyDescriptor(present(), name),
      configurable: true,
    }),
  })
}

/** Opens stores for a file, as `useOpened` does. @param isDirty whether the file changes more than rows */
export function useTestStores({ isDirty = false } = {}): TestStores {
  return useOpened(async () => {
    const stores = await openTestStores()
    if (isDirty) stores.markDirty()
    return stores
  })
}

/** Makes an empty folder before the tests, and removes it after them. @returns its path, or a path below it */
export function useFolder(): (...names: string[]) => string {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tributary-test-'))
  })
  // Engines may still write files after their last client has left.
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }))
  return (...names) => join(folder, ...names)
}
