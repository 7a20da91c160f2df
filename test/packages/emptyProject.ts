import { execFile } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { useFolder } from '../kit/fixtures.ts'

/** A project of npm in an empty folder, with the tarballs of packages of this repository. */
export interface EmptyProject {
  folder(...names: string[]): string
  /** Of a process in the folder, with its programs, as after `npm install --global`. */
  environment(): Record<string, string>
  run(
    program: string,
    words: string[],
    environment?: Record<string, string>,
  ): Promise<{ stdout: string; stderr: string }>
  tarballs(): Promise<string[]>
  /** Installs packages from files, and from the registry of npm the versions that a user gets, without a lock file. */
  install(...words: string[]): Promise<void>
}

/** Makes a project before the tests. @param packages of this repository, packed as they are built */
export function useEmptyProject(packages: readonly string[]): EmptyProject {
  const folder = useFolder()
  const environment = () => ({ PATH: `${folder('node_modules/.bin')}:${process.env.PATH}`, HOME: folder() })
  const run: EmptyProject['run'] = (program, words, more) =>
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
    async install(...words) {
      // The home folder has the settings of npm and its cache.
      const { HOME = '' } = process.env
      await run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...words], { HOME })
    },
  }
}
