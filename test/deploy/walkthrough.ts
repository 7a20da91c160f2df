// Walks docs/operations.md: runs its `sh` blocks as they stand, in order, in a clean clone of the last commit, and compares
// what they print with the `text` blocks under them.
//   npm run walk
// It wants Debian's postgresql-15, redis-server and nginx, and the ports that the page names. ClickHouse is the embedded
// engine as a server of its own, with the users of docs/clickhouse-users.sql.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { packageRoot } from '../../src/package.ts'
import { type Block, blocksOf } from '../docs/shellBlocks.ts'
import { startClickHouse } from '../kit/clickhouseServer.ts'
import { startPostgres } from '../kit/postgresServer.ts'
import { startRedis } from '../kit/redis.ts'

const page = 'docs/operations.md'
/** Ends what a block prints. */
const mark = '\x1e'

const folder = await mkdtemp(join(tmpdir(), 'tributary-walk-'))
execFileSync('git', ['clone', '--quiet', packageRoot, folder])
const [clickhouse, postgres, redis] = await Promise.all([startClickHouse(), startPostgres(), startRedis()])
const admin = new URL(clickhouse.url('admin'))
const database = new URL(postgres.url(''))
let failed = 0
try {
  const blocks = blocksOf(page)
  const printed = await walk(blocks, {
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
  for (const [index, { place, text: expected }] of blocks.entries()) {
    const seen = printed[index]
    const holds = seen !== undefined && (expected === undefined || trimmed(seen) === trimmed(expected))
    console.log(`${holds ? 'held' : 'FAILED'}: ${place}`)
    if (!holds) console.log(`${seen === undefined ? 'was not run to its end' : `printed:\n${seen}`}`)
    if (!holds) failed += 1
  }
} finally {
  await Promise.all([clickhouse.close(), postgres.close()])
  redis.close()
  await rm(folder, { recursive: true, force: true })
}
process.exitCode = failed === 0 ? 0 : 1

/** Runs all blocks in one shell, which ends at the first command that fails. @returns what each block printed that was run to its end */
async function walk(blocks: readonly Block[], env: Record<string, string | undefined>): Promise<string[]> {
  const end = 'kill $(cat *.pid) 2> /dev/null; nginx -c "$PWD/nginx.conf" -s quit'
  const script = blocks.map(({ commands }) => `${commands.join('\n')}\nprintf '${mark}'`).join('\n')
  const shell = spawn('bash', ['-euc', `set -o pipefail\ntrap '${end}' EXIT\n${script}`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [output] = await Promise.all([text(shell.stdout), once(shell, 'exit')])
  return output.split(mark).slice(0, -1)
}

/** Spaces at the ends of lines say nothing. */
function trimmed(text: string): string {
  return text.replace(/ +$/gm, '').trim()
}
