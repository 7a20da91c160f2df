// Runs the commands of docs/setup.md and docs/restore.md: all `sh` blocks unchanged, in order, in a clean clone of the last
// commit, and compares their output with the `text` blocks below them.
//   npm run test:operations
// Requires the Debian packages below, and the ports that the pages name. ClickHouse is the embedded
// engine as a server, with the users of docs/clickhouse-users.sql.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { packageRoot } from '../../src/package.ts'
import { type Block, blocksOf } from '../docs/shellBlocks.ts'
import { startClickHouse } from '../kit/clickhouseServer.ts'
import { startPostgres } from '../kit/postgresServer.ts'
import { startRedis } from '../kit/redis.ts'

const pages = ['docs/setup.md', 'docs/restore.md']
const separator = '\x1e'

const programs = {
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
  'redis-server': '/usr/bin/redis-server',
  nginx: '/usr/sbin/nginx',
}
const missing = Object.entries(programs).flatMap(([name, path]) => (existsSync(path) ? [] : [name]))
if (missing.length > 0) {
  console.error(`These Debian packages are missing: apt-get install ${missing.join(' ')}`)
  process.exit(2)
}

const folder = await mkdtemp(join(tmpdir(), 'tributary-operations-'))
execFileSync('git', ['clone', '--quiet', packageRoot, folder])
const [clickhouse, postgres, redis] = await Promise.all([startClickHouse(), startPostgres(), startRedis()])
const admin = new URL(clickhouse.url('admin'))
const database = new URL(postgres.url(''))
let failed = 0
try {
  const blocks = pages.flatMap((page) => blocksOf(page))
  const outputs = await runBlocks(blocks, {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    CLICKHOUSE_ADMIN_URL: `${admin.origin.replace('//', '//admin:admin@')}/`,
    CLICKHOUSE_PORT: admin.port,
    OWNER_PASSWORD: 'tributary_owner',
    WRITER_PASSWORD: 'tributary_writer',
    READER_PASSWORD: 'tributary_reader',
    POSTGRES_ADMIN_URL: database.href.replace(/\/$/, ''),
    POSTGRES_PORT: database.port,
    REDIS_PORT: new URL(redis.url).port,
  })
  for (const [index, { source: location, text: expected }] of blocks.entries()) {
    const output = outputs[index]
    const matches = output !== undefined && (expected === undefined || trimmed(output) === trimmed(expected))
    console.log(`${matches ? 'passed' : 'FAILED'}: ${location}`)
    if (!matches) console.log(`${output === undefined ? 'did not finish' : `printed:\n${output}`}`)
    if (!matches) failed += 1
  }
} finally {
  await Promise.all([clickhouse.close(), postgres.close()])
  redis.close()
  await rm(folder, { recursive: true, force: true })
}
process.exitCode = failed === 0 ? 0 : 1

/** Runs all blocks in one shell, which exits at the first command that fails. @returns the outputs of the finished blocks */
async function runBlocks(blocks: readonly Block[], env: Record<string, string | undefined>): Promise<string[]> {
  const end = 'kill $(cat *.pid) 2> /dev/null; nginx -c "$PWD/nginx.conf" -s quit'
  const script = blocks.map(({ commands }) => `${commands.join('\n')}\nprintf '${separator}'`).join('\n')
  const shell = spawn('bash', ['-euc', `set -o pipefail\ntrap '${end}' EXIT\n${script}`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await Promise.all([text(shell.stdout), once(shell, 'exit')])
  return printed.split(separator).slice(0, -1)
}

function trimmed(text: string): string {
  return text.replace(/ +$/gm, '').trim()
}
