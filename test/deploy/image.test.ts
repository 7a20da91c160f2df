// @module-tag long

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { version } from '../../src/package.ts'
import { startClickHouse } from '../kit/clickhouseServer.ts'
import { useFolder, useOpened } from '../kit/fixtures.ts'
import { isInstalled } from '../kit/isInstalled.ts'
import { hasPostgres, startPostgres } from '../kit/postgresServer.ts'
import { freePort } from '../kit/serverProcess.ts'
import { holds, until } from '../kit/until.ts'
import { buildImage, type Image } from './image.ts'

/** The user `node` of the image. Only root can start a process as another user. */
const user = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {}
const commit = '0123456789ab'

describe.runIf(hasPostgres() && isInstalled('git'))('the image of deploy/Dockerfile', () => {
  let image: Image
  // npm downloads all packages.
  beforeAll(async () => {
    image = await buildImage({ COMMIT: commit, VERSION: version })
  }, 1_500_000)
  afterAll(() => image?.close())
  const clickhouse = useOpened(startClickHouse)
  const postgres = useOpened(startPostgres)
  const dataDir = useFolder()

  const options = (more: Record<string, string> = {}) => {
    const CLICKHOUSE_URL = clickhouse.url('tributary_writer')
    const stores = { DATABASE_URL: postgres.url('tributary'), CLICKHOUSE_URL, DATA_DIR: dataDir('data') }
    return { ...user, cwd: image.workingFolder, env: { ...image.environment, ...stores, ...more } }
  }
  async function run(words: string[], more?: Record<string, string>): Promise<string> {
    const [program = '', ...rest] = words
    return (await promisify(execFile)(program, rest, options(more))).stdout
  }
  const command = (...words: string[]) => run([...image.entrypoint, ...words])

  it('serves reports and /explore as a user who may not change its files', async () => {
    expect(await command('--version')).toContain(`tributary ${version} (commit ${commit})\n`)
    await run([...image.entrypoint, 'migrate'], { CLICKHOUSE_URL: clickhouse.url('tributary_owner') })
    await command('account', 'create', '--name', 'Acme', '--id', 'acme')
    await command('demo', '--account', 'acme', '--clicks', '200', '--days', '2')
    const words = ['key', 'create', '--account', 'acme', '--name', 'test', '--scopes', 'all', '--json']
    const { key } = JSON.parse(await command(...words))

    const served = { PORT: `${await freePort()}`, HOST: '127.0.0.1', LOG_LEVEL: 'warn' }
    const url = `http://127.0.0.1:${served.PORT}`
    const [program = '', ...rest] = [...image.entrypoint, ...image.command]
    const server = spawn(program, rest, { ...options(served), stdio: ['ignore', 'ignore', 'inherit'] })
    const exited = once(server, 'exit')
    try {
      await until(() => server.exitCode !== null || holds(() => run(image.healthCheck, served)))
      const read = async (path: string) => {
        const response = await fetch(new URL(path, url), { headers: { authorization: `ApiKey ${key}` } })
        expect([path, response.status]).toEqual([path, 200])
        return response
      }
      await read('/readyz')
      const { totals } = (await (await read('/api/v1/reports?group_by=device&days=3')).json()) as {
        totals: { clicks: number }
      }
      expect(totals.clicks).toBeGreaterThan(0)
      for (const page of ['/explore', '/api/v1/docs']) {
        const html = await (await read(page)).text()
        const files = [...html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"#]+)"/g)].map(([, file = '']) => file)
        expect(files).not.toEqual([])
        for (const file of files) await read(new URL(file, new URL(page, url)).pathname)
      }
    } finally {
      server.kill()
      await exited
    }
  })

  it('has no file that its user may change, no engines and no packages for development', async () => {
    const find = (...words: string[]) => run(['find', image.workingFolder, ...words])
    expect(await find('!', '-type', 'l', '-writable')).toBe('')
    expect(await find('-name', 'chdb*', '-o', '-name', 'pglite', '-o', '-name', 'typescript')).toBe('')
  })
})
