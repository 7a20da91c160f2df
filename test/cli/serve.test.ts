// @module-tag all
// @module-tag node

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { storeLocation } from '../../src/cli/storeLocation.ts'
import { commit, version } from '../../src/package.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { useTestStores } from '../kit/fixtures.ts'
import { openHttpServer } from '../kit/httpServer.ts'
import { freePort } from '../kit/serverProcess.ts'
import { commandFile, exitOf, expectOneLine, runHere, runJson, serve, start } from './runCommand.ts'

// The engines stay up while servers end and start.
const stores = useTestStores()
let environment: Record<string, string>
let apiKey: string

beforeAll(() => {
  environment = { ...stores.environment, PORT: '0', LOG_LEVEL: 'debug' }
})

const get = (url: string, key: string) => fetch(url, { headers: { authorization: `ApiKey ${key}` } })

describe('the server', () => {
  it('creates its store and names it', { tags: 'long' }, async () => {
    // A folder that does not exist yet.
    const settings = { DATA_DIR: join(`${environment.DATA_DIR}`, 'new') }
    const { end, log } = await serve({ ...environment, ...settings })
    expect(await end()).toBe(0)
    const line = `Created an empty store in ${storeLocation(readSettings({ ...environment, ...settings }))}.`
    const lines = (await log).trim().split('\n')
    expect(lines.filter((text) => JSON.parse(text).msg === line)).toHaveLength(1)
  })

  it('completes an interrupted import, accepts keys created while it runs, serves metrics on a separate loopback port, and exits with 0', async () => {
    await runJson(['account', 'create', '--name', 'Acme', '--id', 'acme'], environment)
    await stores.postgres`INSERT INTO account_tasks VALUES ('acme', 'attribute_late_clicks')`
    const port = await freePort()
    const { printed, end, log } = await serve({ ...environment, METRICS_PORT: `${port}` })
    const { url } = printed
    await expect.poll(() => stores.postgres`SELECT 1 FROM account_tasks`).toEqual([])
    const words = ['key', 'create', '--account', 'acme', '--name', 'x', '--scopes', 'all']
    apiKey = (await runJson(words, environment)).key
    const response = await get(`${url}/api/v1/clicks`, apiKey)
    expect([response.status, await response.json()]).toEqual([
      200,
      { data: [], nextCursor: null, hasMore: false, asOf: null },
    ])
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    expect(metrics).toContain('http_requests_total{method="GET",route="/api/v1/clicks",status="200"} 1')
    expect(metrics).toContain(
      `tributary_build_info{version="${version}",commit="${commit}",zone_data="${process.versions.tz}"} 1`,
    )
    expect((await fetch(`${url}/metrics`)).status).toBe(404)
    await expect(fetch(`http://127.0.0.2:${port}/metrics`)).rejects.toThrow()
    expect(await end('SIGINT')).toBe(0)
    const lines = (await log).trim().split('\n')
    for (const line of lines) expect(JSON.parse(line).time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(lines.filter((line) => line.includes(`listening on ${url}`))).toHaveLength(1)
    expect(lines.at(-1)).toContain('stopped')
    expect(lines.join()).not.toMatch(new RegExp(`${apiKey}|Created an empty store|METRICS_HOST`))
  })

  it('continues to serve and shuts down cleanly if its log cannot be written', async () => {
    const full = await open('/dev/full', 'w')
    const child = spawn(process.execPath, [commandFile, 'serve', '--json'], {
      env: { PATH: process.env.PATH, ...environment, LOG_LEVEL: 'info' },
      stdio: ['ignore', 'pipe', full.fd],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const exit = once(child, 'exit')
    await full.close()
    const [line] = await once(child.stdout as Readable, 'data')
    const { url } = JSON.parse(`${line}`) as { url: string }
    for (let count = 0; count < 10; count++) expect((await get(`${url}/api/v1/clicks`, apiKey)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
  })

  it('stops on SIGTERM while it waits for its databases', async () => {
    const child = start(['serve'], { ...environment, DATABASE_URL: `postgres://x@127.0.0.1:${await freePort()}/x` })
    onTestFinished(() => void child.kill('SIGKILL'))
    const exit = exitOf(child)
    child.stdout.resume()
    const log = text(child.stderr)
    await once(child.stderr, 'data')
    child.kill('SIGTERM')
    expect(await exit).toBe(0)
    expect(await log).toContain('stopped')
  })

  it('ends immediately on a second signal, and logs lines of text with LOG_FORMAT=text', async () => {
    const { printed, end, log } = await serve({ ...environment, LOG_FORMAT: 'text' })
    const { url } = printed
    const { port, hostname } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.write(
      'POST /api/v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{',
    )
    await expect.poll(async () => (await fetch(`${url}/healthz`)).status).toBe(200)
    void end()
    await expect.poll(() => fetch(`${url}/healthz`).catch(() => 'closed')).toBe('closed')
    expect(await end()).toBe(1)
    socket.destroy()
    const lines = (await log).trim().split('\n')
    for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\S+Z (DEBUG|INFO |ERROR) \S/)
    // It can overtake a line that is being written.
    expect(lines.slice(-3).join('\n')).toMatch(/Z ERROR second SIGTERM, exiting$/m)
    expect(lines.join('\n')).toMatch(/Z DEBUG request completed reqId=\S+ method=GET url=\/healthz status=200 ms=/)
  })

  it('serves metrics on another address that METRICS_HOST names, with a warning', { tags: 'long' }, async () => {
    const port = await freePort()
    const open = await serve({ ...environment, METRICS_PORT: `${port}`, METRICS_HOST: '0.0.0.0' })
    expect((await fetch(`http://127.0.0.2:${port}/metrics`)).status).toBe(200)
    await open.end()
    const warnings = (await open.log).split('\n').filter((line) => line.includes('"level":40'))
    expect(warnings).toEqual([expect.stringContaining(`METRICS_HOST=0.0.0.0: every client that reaches port ${port}`)])
  })
})

describe('an unavailable address', () => {
  const ofPort = /PORT=\d+: the port is already in use on 127\.0\.0\.1; set another one\.$/m
  it.each<[string, (used: string, free: string) => Record<string, string>, RegExp]>([
    ['a port in use', (PORT) => ({ PORT }), ofPort],
    ['a port in use, with a free metrics port', (PORT, METRICS_PORT) => ({ PORT, METRICS_PORT }), ofPort],
    [
      'a metrics port in use',
      (METRICS_PORT) => ({ METRICS_PORT }),
      /METRICS_PORT=\d+: the port is already in use on 127\.0\.0\.1; set another one\.$/m,
    ],
    [
      'an address of another machine',
      () => ({ HOST: '203.0.113.1' }),
      / HOST=203\.0\.113\.1, PORT=\d+: .*EADDRNOTAVAIL/m,
    ],
    [
      'metrics on an address of another machine',
      (METRICS_PORT) => ({ METRICS_PORT, METRICS_HOST: '203.0.113.1' }),
      /METRICS_HOST=203\.0\.113\.1, METRICS_PORT=\d+: .*EADDRNOTAVAIL/m,
    ],
    ['an unknown host', () => ({ HOST: 'nowhere.invalid' }), /HOST=nowhere\.invalid, PORT=0: .*(ENOTFOUND|EAI_AGAIN)/m],
  ])('%s is reported in one line that names the setting, with exit code 1', async (_name, settingsOf, line) => {
    const other = await openHttpServer(() => {})
    const settings = settingsOf(new URL(other.url).port, `${await freePort()}`)
    expectOneLine(await runHere(['serve'], { ...environment, LOG_LEVEL: 'warn', ...settings }), 1, line)
    await other.close()
  })
})
