import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { useFolder } from '../kit/fixtures.ts'

/** Makes a project of npm in an empty folder before the tests. @param packages of this repository, packed as they are built */
export function useEmptyProject(packages: readonly string[]) {
  const folder = useFolder()
  /** Of a process in the folder, with its programs, as after `npm install --global`. */
  const environment = () => ({ PATH: `${folder('node_modules/.bin')}:${process.env.PATH}`, HOME: folder() })
  const run = (program: string, words: string[], more?: Record<string, string>) =>
    promisify(execFile)(program, words, { cwd: folder(), env: { ...environment(), ...more } })
  beforeAll(async () => {
    await writeFile(folder('package.json'), '{ "type": "module", "private": true }')
    const folderOf = (name: string) => (name === 'tributary' ? '.' : name.replace('tributary-', 'src/packages/'))
    const folders = packages.map((name) => join(packageRoot, folderOf(name)))
    if (folders.length > 0) await run('npm', ['pack', '--ignore-scripts', ...folders])
  })
  return {
    folder,
    environment,
    run,
    async tarballs() {
      return (await readdir(folder())).filter((name) => name.endsWith('.tgz')).map((name) => `./${name}`)
    },
    /** Installs packages from files, and from the registry of npm the versions that a user gets, without a lock file. */
    async install(...words: string[]) {
      // The home folder has the settings of npm and its cache.
      const { HOME = '' } = process.env
      await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...words], { HOME })
    },
  }
}
