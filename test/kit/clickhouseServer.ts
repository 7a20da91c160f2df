import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packageRoot } from '../../src/package.ts'
import { configXml } from '../../src/stores/embedded/clickhouse/config.ts'
import { type ClickHouseUser, usersXml } from '../../src/stores/embedded/clickhouse/users.ts'
import { freePort, type ServerProcess } from './serverProcess.ts'

/** A ClickHouse server of a test's own, with an administrator and the users of `docs/clickhouse-users.sql`. */
export interface ClickHouseServer extends ServerProcess {
  /** The address of its database `tributary` for one of its users; passwords are the names. */
  url(user: string): string
  readonly port: number
  /** Process id of the engine; another one after each start. */
  readonly pid: number
  /** Resolves when the engine has ended, however it did. */
  readonly ended: Promise<unknown>
  /** Runs a statement as one of its users. @returns the answer's text @throws Error with the server's words */
  ask(user: string, statement: string): Promise<string>
  close(): Promise<void>
}

const startPatienceMs = 60_000

/**
 * Starts a server on a free port and waits until it answers.
 * @param folder an empty one for its files, which is the caller's to remove; one of its own when left out
 * @param member as what it is part of a cluster: what its configuration says of that, and where the other nodes find it
 */
export async function startClickHouse(
  folder?: string,
  member?: { configXml: string; tcpPort: number },
): Promise<ClickHouseServer> {
  const place = folder ?? (await mkdtemp(join(tmpdir(), 'tributary-clickhouse-')))
  const usersFile = join(place, 'users.xml')
  const configFile = join(place, 'config.xml')
  await writeFile(usersFile, usersXml([administrator, ...(await documentedUsers(member !== undefined))]))
  const backups = `<backups><allowed_path>${join(place, 'backups')}/</allowed_path></backups>`
  const config = configXml({ usersFile, logFile: join(place, 'log') }).replace(
    '</clickhouse>',
    `${backups}${member?.configXml ?? ''}</clickhouse>`,
  )
  await writeFile(configFile, config)
  const port = await freePort()
  let child: ChildProcess
  let exited: Promise<unknown>

  async function ask(user: string, statement: string): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': user },
      body: statement,
    })
    const text = (await response.text()).trim()
    if (!response.ok) throw new Error(text)
    return text
  }

  async function start(): Promise<void> {
    const program = join(packageRoot, 'test/kit/clickhouseProcess.mjs')
    const ports = member ? [`${port}`, `${member.tcpPort}`] : [`${port}`]
    child = spawn(process.execPath, [program, join(place, 'data'), configFile, ...ports], {
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    exited = once(child, 'exit')
    for (const deadlineMs = performance.now() + startPatienceMs; ; await sleep(50)) {
      try {
        await ask('admin', 'CREATE DATABASE IF NOT EXISTS tributary')
        if (member) await ask('admin', 'CREATE DATABASE IF NOT EXISTS tributary_local')
        return
      } catch (error) {
        if (performance.now() > deadlineMs) throw error
      }
    }
  }

  /** @param signal the engine's call never returns, but SIGTERM ends it too */
  async function end(signal: NodeJS.Signals): Promise<void> {
    child.kill(signal)
    await exited
  }

  await start()
  return {
    port,
    get pid() {
      return child.pid ?? 0
    },
    get ended() {
      return exited
    },
    url: (user) => `http://${user}:${user}@127.0.0.1:${port}/tributary`,
    ask,
    start,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async close() {
      await end('SIGKILL')
      if (folder === undefined) await rm(place, { recursive: true, force: true })
    },
  }
}

/** Everything that a server's administrator may do there and here, backups included. */
const administrator: ClickHouseUser = {
  name: 'admin',
  passwordSha256: digest('admin'),
  grants: [
    'GRANT CHECK, SHOW, SELECT, INSERT, ALTER, CREATE, DROP, TRUNCATE, OPTIMIZE, KILL QUERY, SYSTEM ON *.*',
    'GRANT TABLE ENGINE ON *',
    'GRANT BACKUP, REMOTE ON *.*',
  ],
}

/** This engine keeps no users of SQL; it takes the same grants from a file. */
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
        fixedSettings: constraints.map(([, key = '']) => key),
      },
    ]
  })
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
