import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packageRoot } from '../../src/package.ts'
import { configXml } from '../../src/stores/embedded/clickhouse/config.ts'
import { memoryLimits } from '../../src/stores/embedded/clickhouse/memory.ts'
import { type ClickHouseUser, usersXml } from '../../src/stores/embedded/clickhouse/users.ts'
import { freePort, type ServerProcess, signalsTo } from './serverProcess.ts'

/** A ClickHouse server of one test, with an administrator and the users of `docs/clickhouse-users.sql`. */
export interface ClickHouseServer extends ServerProcess {
  /** The URL of its database `tributary` for one of its users; each password is the user's name. */
  url(user: string): string
  readonly port: number
  /** Process id of the engine; changes with each start. */
  readonly pid: number
  readonly ended: Promise<unknown>
  /** Lines of its log about errors that ended the engine, with their stack traces. */
  fatalErrors(): Promise<string[]>
  /** Runs a statement as one of its users. @returns the result as text @throws Error with the message of the server */
  run(user: string, statement: string): Promise<string>
  close(): Promise<void>
}

const startTimeoutMs = 60_000

/**
 * Starts a server on a free port and waits until it responds.
 * @param folder an empty folder for its files, which the caller removes; by default a temporary folder
 * @param member for a node of a cluster: its additional configuration, and the port for the other nodes; for a replica also the
 *   address from which the other ones fetch parts, at the same port as HTTP
 */
export async function startClickHouse(
  folder?: string,
  member?: { configXml: string; tcpPort: number; replicaHost?: string },
): Promise<ClickHouseServer> {
  const directory = folder ?? (await mkdtemp(join(tmpdir(), 'tributary-clickhouse-')))
  const usersFile = join(directory, 'users.xml')
  const configFile = join(directory, 'config.xml')
  const logFile = join(directory, 'log')
  const users = await documentedUsers(member !== undefined)
  await writeFile(usersFile, usersXml([administrator, ...users, ...users.flatMap(formerWriter)]))
  const backups = `<backups><allowed_path>${join(directory, 'backups')}/</allowed_path></backups>`
  const config = configXml(usersFile, logFile, memoryLimits().server).replace(
    '</clickhouse>',
    `${backups}${member?.configXml ?? ''}</clickhouse>`,
  )
  await writeFile(configFile, config)
  const port = await freePort()
  let child: ChildProcess
  let exited: Promise<unknown>

  const { url, run } = accessTo(port)

  async function start(): Promise<void> {
    const program = join(packageRoot, 'test/kit/clickhouseProcess.mjs')
    const listens = [port, member?.tcpPort ?? [], member?.replicaHost ?? []].flat().map(String)
    child = spawn(process.execPath, [program, join(directory, 'data'), configFile, ...listens], {
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    exited = once(child, 'exit')
    for (const deadlineMs = performance.now() + startTimeoutMs; ; await sleep(50)) {
      try {
        await createDatabases({ run }, member !== undefined)
        return
      } catch (error) {
        if (performance.now() > deadlineMs) throw error
      }
    }
  }

  await start()
  const signals = signalsTo(() => child)
  return {
    port,
    get pid() {
      return child.pid ?? 0
    },
    get ended() {
      return exited
    },
    async fatalErrors() {
      const log = await readFile(logFile, 'utf8').catch(() => '')
      return log.split('\n').filter((line) => line.includes('<Fatal>'))
    },
    url,
    run,
    start,
    ...signals,
    async close() {
      await signals.kill()
      if (folder === undefined) await rm(directory, { recursive: true, force: true })
    },
  }
}

export function accessTo(port: number): Pick<ClickHouseServer, 'url' | 'run'> {
  return {
    url: (user) => `http://${user}:${user}@127.0.0.1:${port}/tributary`,
    async run(user, statement) {
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: 'POST',
        headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': user },
        body: statement,
      })
      const text = (await response.text()).trim()
      if (!response.ok) throw new Error(text)
      return text
    },
  }
}

export async function createDatabases({ run }: Pick<ClickHouseServer, 'run'>, isMember = true): Promise<void> {
  await run('admin', 'CREATE DATABASE IF NOT EXISTS tributary')
  if (isMember) await run('admin', 'CREATE DATABASE IF NOT EXISTS tributary_local')
}

/** Grants of an administrator that servers and the embedded engine know, including backups. */
export const administrator: ClickHouseUser = {
  name: 'admin',
  passwordSha256: digest('admin'),
  grants: [
    'GRANT CHECK, SHOW, SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, OPTIMIZE, KILL QUERY, SYSTEM ON *.*',
    'GRANT TABLE ENGINE ON *',
    'GRANT BACKUP, REMOTE ON *.*',
  ],
}

/** The writer of version 1.0, which has no grant for the logs of ClickHouse. */
function formerWriter({ name, grants, ...user }: ClickHouseUser): ClickHouseUser[] {
  if (name !== 'tributary_writer') return []
  const former = grants.filter((grant) => !grant.includes('SHOW TABLES'))
  return [{ ...user, name: 'former_writer', passwordSha256: digest('former_writer'), grants: former }]
}

/** The users of the documented SQL files. The engine cannot create users by SQL; it reads them from a file. */
export async function documentedUsers(isMember: boolean): Promise<ClickHouseUser[]> {
  const files = ['docs/clickhouse-users.sql', ...(isMember ? ['docs/clickhouse-users-cluster.sql'] : [])]
  const sql = await Promise.all(files.map((file) => readFile(join(packageRoot, file), 'utf8')))
  const statements = sql
    .join('\n')
    .replace(/^--.*$/gm, '')
    .split(';')
    .map((statement) => statement.replace(/\s+/g, ' ').trim())
  const grants = statements.flatMap((statement) => {
    const [, grant, user] = /^(GRANT .*) TO (\w+)$/.exec(statement) ?? []
    return grant && user ? [{ grant, user }] : []
  })
  return statements.flatMap((statement) => {
    const [, name, settings = ''] =
      /^CREATE USER IF NOT EXISTS (\w+) IDENTIFIED .*?'(?: SETTINGS (.*))?$/.exec(statement) ?? []
    if (!name) return []
    const constraints = [...settings.matchAll(/(\w+) = (\w+) READONLY/g)]
    return [
      {
        name,
        passwordSha256: digest(name),
        grants: grants.filter(({ user }) => user === name).map(({ grant }) => grant),
        settings: Object.fromEntries(constraints.map(([, key = '', value = '']) => [key, value])),
      },
    ]
  })
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
