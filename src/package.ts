import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/** Folder of package.json, the same from `src` and from `dist`; SQL files and compiled entry points are located from it. */
export const packageRoot = dirname(require.resolve('tributary/package.json'))

/** Its version, and the exact versions of the packages of the embedded engines, which the program uses beyond their documented functions. */
export const { version, optionalDependencies } = require('tributary/package.json') as {
  version: string
  optionalDependencies: Readonly<Record<string, string>>
}

/** Version of the time zone data of this process, such as `2025c`. ClickHouse, PostgreSQL and DuckDB have their own. */
export const zoneData = process.versions.tz ?? 'unknown'

/** The commit that was built, with `-dirty` after changes; `unknown` where it was not built from a clone. */
export const commit = readCommit()

/** The file is written by `npm run build`. */
function readCommit(): string {
  const path = join(packageRoot, 'dist/commit')
  return (existsSync(path) && readFileSync(path, 'utf8').trim()) || 'unknown'
}

/** Whether a version is later than another one: 26.10 is later than 26.9. */
export function isLater(one: string, other: string): boolean {
  return one.localeCompare(other, 'en', { numeric: true }) > 0
}

/** @returns the version of a package that this program would load, undefined if it is not installed */
export function installedVersion(name: string): string | undefined {
  // Some packages do not export their package.json.
  const manifests = (require.resolve.paths(name) ?? []).map((folder) => join(folder, name, 'package.json'))
  const path = manifests.find((manifest) => existsSync(manifest))
  return path && (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
}
