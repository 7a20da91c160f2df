// @module-tag all

import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSettings } from '../../../src/settings/settings.ts'
import type { EmbeddedClickHouse, EmbeddedPostgres } from '../../../src/stores/embedded/protocol.ts'
import { migrate } from '../../../src/stores/migrations/migrate.ts'
import { openStores, type Stores } from '../../../src/stores/open.ts'
import { rowsOf } from '../../import/runImport.ts'
import { holds, until } from '../../kit/until.ts'
import { execute, type Folder, makeFolder, post } from './folder.ts'

let folder: Folder
let clickhouse: EmbeddedClickHouse
let postgres: EmbeddedPostgres
let stores: Stores
beforeAll(async () => {
  folder = await makeFolder()
  // Only the folders in it keep others out.
  chmodSync(folder.path, 0o755)
  stores = await openStores(readSettings({ DATA_DIR: folder.path }), () => {})
  await migrate(stores)
  const engines = await folder.attach()
  clickhouse = engines.clickhouse as EmbeddedClickHouse
  postgres = engines.postgres as EmbeddedPostgres
})
afterAll(async () => {
  await stores?.close()
  await folder?.leave()
})

/** The port of ClickHouse is open to every user of the machine. */
const port = () => Number(readFileSync(join(folder.path, 'clickhouse/port'), 'utf8'))
const overTcp = (query: string, username: string, password = '') =>
  post({ host: '127.0.0.1', port: port() }, query, { username, password })

/** Another user can only be played by root. */
const asRoot = it.skipIf(process.getuid?.() !== 0)
const asOtherUser = (program: string, ...words: string[]) =>
  ['-u', 'nobody', '--', process.execPath, '--eval', program, ...words] as const

describe('another user of the machine', () => {
  it.each([
    'SELECT * FROM tributary.clicks',
    'SELECT * FROM system.tables',
    'SYSTEM STOP LISTEN HTTP',
    `SELECT * FROM file('/etc/passwd', 'LineAsString')`,
    `SELECT file('/etc/passwd')`,
    'SELECT 1',
  ])('gets nothing from ClickHouse as the user without a password: %s', async (query) => {
    await expect(overTcp(query, 'default')).rejects.toThrow(/USER_SESSION_LIMIT_EXCEEDED/)
  })

  it.each(['tributary', 'tributary_reader'])('gets nothing from ClickHouse with a wrong password: %s', async (user) => {
    await expect(overTcp('SELECT 1', user, 'guess')).rejects.toThrow(/AUTHENTICATION_FAILED/)
  })

  it('can open no folder and no file of the engines', () => {
    const inRun = readdirSync(join(folder.path, 'run')).map((name) => join('run', name))
    for (const path of ['run', 'clickhouse', 'postgres', 'embedded.log', ...inRun]) {
      const { mode } = statSync(join(folder.path, path))
      if (!path.endsWith('.sock')) expect([path, mode & 0o077]).toEqual([path, 0])
    }
    for (const path of [postgres.path, clickhouse.socketPath]) expect(dirname(path)).toBe(join(folder.path, 'run'))
  })

  asRoot('can connect to neither socket', () => {
    const program = `
      const socket = require('node:net').connect(process.argv[1])
      socket.on('connect', () => { console.log('connected'); socket.destroy() })
      socket.on('error', ({ code }) => console.log(code))`
    for (const path of [postgres.path, clickhouse.socketPath, join(folder.path, 'run/control.sock')])
      expect(execFileSync('runuser', asOtherUser(program, path), { encoding: 'utf8' })).toBe('EACCES\n')
  })

  it('finds no password of ClickHouse in a file', () => {
    const texts = ['clickhouse.json', 'clickhouse-users.xml', 'clickhouse-config.xml'].map((name) =>
      readFileSync(join(folder.path, 'run', name), 'utf8'),
    )
    for (const { password } of [clickhouse.writer, clickhouse.reader]) expect(texts.join()).not.toContain(password)
  })

  asRoot(
    'that binds the port of ClickHouse while it restarts receives no byte and sends none to a client',
    async () => {
      const before = port()
      const program = `
      const net = require('node:net')
      const server = net.createServer((socket) => {
        socket.on('error', () => {}).on('data', (data) => process.stdout.write(data))
        socket.end('HTTP/1.1 200 OK\\r\\nContent-Length: 7\\r\\n\\r\\nforged\\n')
      })
      const listen = () => server.listen(Number(process.argv[1]), '127.0.0.1')
      server.on('error', () => setTimeout(listen, 1)).on('listening', () => console.error('listening'))
      listen()`
      const intruder = spawn('runuser', asOtherUser(program, `${before}`), { stdio: ['ignore', 'pipe', 'pipe'] })
      const ended = new Promise((resolve) => intruder.once('close', resolve))
      let output = ''
      let isListening = false
      intruder.stdout.on('data', (data) => {
        output += data
      })
      intruder.stderr.once('data', () => {
        isListening = true
      })
      const results: string[] = []
      const query = async () => {
        const { reader } = stores.clickhouse
        const result = await reader.query({ query: `SELECT 'true'`, format: 'TabSeparated' })
        results.push((await result.text()).trim())
      }
      process.kill(folder.process('clickhouse/engine'), 'SIGKILL')
      await until(async () => {
        const hasResult = await holds(query)
        return isListening && hasResult
      })
      intruder.kill()
      await ended
      expect(output).toBe('')
      expect(new Set(results)).toEqual(new Set(['true']))
      expect(port()).not.toBe(before)
    },
  )

  it('that resets a half-sent request ends ClickHouse, which restarts at once with every acknowledged row', async () => {
    const attacked = port()
    const acknowledged: string[] = []
    const store = async () => {
      const id = `${acknowledged.length}`
      await stores.clickhouse.client.command({
        query: `INSERT INTO clicks (account_id, clicked_at, id) VALUES ('acme', now(), '${id}')`,
      })
      acknowledged.push(id)
    }
    // Repeated: only a reset of a request that the engine has begun to read ends it.
    await until(async () => {
      const socket = connect(attacked, '127.0.0.1', () => socket.write('GET / HT'))
      socket.on('error', () => {})
      const isStored = await holds(store)
      socket.resetAndDestroy()
      return isStored && port() !== attacked
    })
    const stored = await rowsOf<{ id: string }>(stores, `SELECT id FROM clicks WHERE account_id = 'acme'`)
    expect(stored.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged))
    // Its own handler of the signal would sleep for 4 s.
    expect(readFileSync(join(folder.path, 'clickhouse/clickhouse.log'), 'utf8')).not.toContain('Received signal')
  })
})

it('a restart of ClickHouse invalidates the passwords of the previous start, and clients of the stores continue', async () => {
  const engines = await folder.attach()
  const before = engines.clickhouse as EmbeddedClickHouse
  process.kill(folder.process('clickhouse/engine'), 'SIGKILL')
  await until(() => engines.clickhouse?.socketPath !== before.socketPath)
  for (const { username, password } of [before.writer, before.reader])
    await expect(overTcp('SELECT 1', username, password)).rejects.toThrow(/AUTHENTICATION_FAILED/)
  await expect(execute(before, 'SELECT 1')).rejects.toThrow(/ENOENT|ECONNREFUSED/)
  await until(() => holds(() => stores.clickhouse.reader.command({ query: 'SELECT 1' })))
  await stores.clickhouse.client.command({ query: 'SELECT 1' })
})

it('a restart of ClickHouse leaves no socket of an earlier start behind', async () => {
  const engines = await folder.attach()
  const sockets = readdirSync(join(folder.path, 'run')).filter(
    (name) => name.startsWith('clickhouse-') && name.endsWith('.sock'),
  )
  expect(sockets.map((name) => join(folder.path, 'run', name))).toEqual([engines.clickhouse?.socketPath])
})
