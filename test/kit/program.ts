import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageRoot } from '../../src/package.ts'

/** Migrations that a later version adds: a column that is filled, and an index, in both stores. */
export const nextMigrations = join(packageRoot, 'test/upgrades/next')

/** Makes a program of another version from the present build. @param migrations folders of further files for the stores */
export async function makeProgram(folder: string, version: string, ...migrations: string[]): Promise<void> {
  await copyMigrations(folder, ...migrations)
  await cp(join(packageRoot, 'dist'), join(folder, 'dist'), { recursive: true })
  const manifest = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8'))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }))
  await symlink(join(packageRoot, 'node_modules'), join(folder, 'node_modules'))
}

/** Makes a folder of migrations, without a program. @param more folders of further files for the stores */
export async function copyMigrations(folder: string, ...more: string[]): Promise<void> {
  for (const name of ['clickhouse', 'postgres'])
    await cp(join(packageRoot, name), join(folder, name), { recursive: true })
  for (const one of more) await cp(one, folder, { recursive: true })
}
