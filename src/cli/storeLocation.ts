import { join, resolve } from 'node:path'
import { packageRoot } from '../package.ts'
import type { Settings } from '../settings/settings.ts'
import { requirePackages } from '../stores/embedded/connectEmbedded.ts'
import { engineNames } from '../stores/embedded/protocol.ts'
import { CommandError } from './errors.ts'

/** Names of the databases by the settings of their servers. A database without a server is embedded, in `DATA_DIR`. */
const servers = { DATABASE_URL: 'PostgreSQL', CLICKHOUSE_URL: 'ClickHouse' } as const
const serverSettings = Object.keys(servers) as (keyof typeof servers)[]

const isEmbedded = (settings: Settings): boolean => serverSettings.some((name) => settings[name] === undefined)

/** @throws CommandError if a database is on a server, or EmbeddedError if a package of the engines is missing */
export function requireEmbedded(settings: Settings): void {
  const named = serverSettings.find((name) => settings[name] !== undefined)
  if (named) throw new CommandError(`${named} names a server, which has its own commands: docs/restore.md.`)
  requirePackages(engineNames)
}

/** @returns where rows are stored, each place with its setting, without passwords: `/srv/data (DATA_DIR)` */
export function storeLocation(settings: Settings): string {
  const places = serverSettings.flatMap((name) => {
    const address = settings[name]?.replace(/^\w+:\/\/(.*@)?/, '').replace(/[?#].*/, '')
    return address === undefined ? [] : [`${servers[name]} ${address} (${name})`]
  })
  if (isEmbedded(settings)) places.push(`${resolve(settings.DATA_DIR)} (DATA_DIR)`)
  return places.join(' and ')
}

/** Returns a command that runs `tributary` on the same embedded store from any folder: `DATA_DIR=… node …/main.js`. */
export function commandLine(settings: Settings): string {
  const folder = isEmbedded(settings) ? `DATA_DIR=${shellQuoted(resolve(settings.DATA_DIR))} ` : ''
  return `${folder}node ${shellQuoted(join(packageRoot, 'dist/src/main.js'))}`
}

const shellQuoted = (path: string): string => (/^[\w./:@-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)
