import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { clickRoutes } from '../../src/api/clicks/routes.ts'
import type { AppParts } from '../../src/app.ts'
import type { App } from '../../src/http/context.ts'
import { packageRoot } from '../../src/package.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { useTestApp } from '../kit/app.ts'
import { isInstalled } from '../kit/isInstalled.ts'
import { sendRaw } from '../kit/rawConnection.ts'
import { freePort } from '../kit/serverProcess.ts'
import { probeRoutes } from './probe.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
})

function open(environment: Record<string, string> = {}, parts: Partial<AppParts> = {}): Promise<App> {
  const settings = readSettings({ ...api.stores.environment, ...environment })
  return api.open({ settings, routes: [probeRoutes], ...parts })
}

const url = '/api/v1/probe?group_by=day'

describe('the address of a client behind a proxy', () => {
  /** Sends malformed keys, each with another value of X-Forwarded-For. @returns the different statuses */
  async function tryKeys(app: App, remoteAddress: string, forwardedFor = (n: number) => `198.51.100.${n}`) {
    const seen = new Set<number>()
    for (let count = 0; count < 125; count++) {
      const headers = { authorization: 'ApiKey nonsense', 'x-forwarded-for': forwardedFor(count) }
      seen.add((await app.inject({ url, headers, remoteAddress })).statusCode)
    }
    return [...seen]
  }

  it('ignores X-Forwarded-For of untrusted clients', async () => {
    expect(await tryKeys(await open(), '203.0.113.7')).toEqual([401, 429])
    expect(await tryKeys(await open({ TRUST_PROXY: '10.0.0.0/8' }), '203.0.113.7')).toEqual([401, 429])
  })

  it('uses X-Forwarded-For of a trusted proxy, ignoring the addresses that clients add', async () => {
    const app = await open({ TRUST_PROXY: '10.0.0.0/8,127.0.0.1' })
    expect(await tryKeys(app, '10.1.2.3')).toEqual([401])
    expect(await tryKeys(app, '10.1.2.3', (n) => `192.0.2.${n}, 203.0.113.9`)).toEqual([401, 429])
  })

  it.each([
    ['IPv4', (n: number) => `203.0.113.10:${40_000 + n}`],
    ['IPv6', (n: number) => `[2001:db8::1]:${40_000 + n}`],
    ['IPv6 in brackets, behind a second proxy', (n: number) => `192.0.2.${n}, [2001:db8::2], 10.1.2.4:${40_000 + n}`],
    ['any number of addresses before it', (n: number) => `${`192.0.2.${n}, `.repeat(700)}203.0.113.11:${40_000 + n}`],
  ])('counts a client once, whatever port X-Forwarded-For has: %s', async (_, forwardedFor) => {
    const app = await open({ TRUST_PROXY: '10.0.0.0/8' })
    expect(await tryKeys(app, '10.1.2.3', forwardedFor)).toEqual([401, 429])
    const other = { authorization: 'ApiKey nonsense', 'x-forwarded-for': '203.0.113.12:40001' }
    expect((await app.inject({ url, headers: other, remoteAddress: '10.1.2.3' })).statusCode).toBe(401)
  })

  it('rejects a TRUST_PROXY that is no address, or that contains every IPv4 or IPv6 address in its networks', () => {
    const noAddresses = ['true', 'all', '10.0.0.0/8,', 'proxy.example.com', '1', '999.1.1.1', '10.0.0.0/64', '::::']
    for (const TRUST_PROXY of [...noAddresses, '0.0.0.0/0', '::/0'])
      expect(() => readSettings({ TRUST_PROXY })).toThrow(/^TRUST_PROXY=/)
    for (const TRUST_PROXY of [
      '0.0.0.0/1,128.0.0.0/1',
      '128.0.0.0/1,10.0.0.1,0.0.0.0/1',
      '0.0.0.0/2,64.0.0.0/2,128.0.0.0/2,192.0.0.0/2',
      // All addresses of hosts on the Internet.
      '1.0.0.0/8,2.0.0.0/7,4.0.0.0/6,8.0.0.0/5,16.0.0.0/4,32.0.0.0/3,64.0.0.0/2,128.0.0.0/2,192.0.0.0/3',
      '::/1,8000::/1',
      '2000::/4,3000::/4',
      '2000::/3',
      '10.0.0.0/8,::/2',
      '::ffff:0:0/96',
      '::/8',
      '::ffff:0.0.0.0/97,128.0.0.0/1',
    ]) {
      expect(() => readSettings({ TRUST_PROXY }), TRUST_PROXY).toThrow(
        /^TRUST_PROXY=.* do not contain every address\.$/,
      )
    }
    for (const TRUST_PROXY of [
      '0.0.0.0/1,128.0.0.0/2',
      '128.0.0.0/1',
      '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7,::1,fe80::1%eth0',
      '::ffff:10.0.0.0/104,2001:db8::1',
    ])
      expect(readSettings({ TRUST_PROXY })).toMatchObject({ TRUST_PROXY })
  })
})

describe.runIf(isInstalled('nginx'))('behind deploy/nginx.conf', { tags: 'all' }, () => {
  /** Starts nginx in front of two servers. @returns its port, and a function that stops it */
  async function startNginx(adapt: (configuration: string) => string) {
    const folder = mkdtempSync(join(tmpdir(), 'tributary-nginx-'))
    const port = await freePort()
    let configuration = adapt(readFileSync(join(packageRoot, 'deploy/nginx.conf'), 'utf8'))
      .replace('/tmp/tributary-nginx.pid', `${folder}/pid`)
      .replace('listen 8080', `listen 127.0.0.1:${port}`)
    for (const name of ['api1:3000', 'api2:3000']) {
      const app = await open({}, { routes: [probeRoutes, clickRoutes] })
      await app.listen({ port: 0, host: '127.0.0.1' })
      configuration = configuration.replace(name, `127.0.0.1:${(app.server.address() as AddressInfo).port}`)
    }
    writeFileSync(join(folder, 'nginx.conf'), configuration)
    const nginx = spawn('/usr/sbin/nginx', ['-p', folder, '-c', 'nginx.conf', '-g', 'daemon off;'], { stdio: 'ignore' })
    await expect
      .poll(() =>
        fetch(`http://127.0.0.1:${port}/healthz`).then(
          ({ status }) => status,
          () => 0,
        ),
      )
      .toBe(200)
    const stop = async () => {
      nginx.kill()
      await once(nginx, 'exit')
      rmSync(folder, { recursive: true })
    }
    return { port, stop }
  }

  const send = (port: number, method: string, path: string, headers: object = {}, body?: Buffer) =>
    new Promise<{ status: number; body: string }>((resolve) => {
      const sent = { authorization: `ApiKey ${key}`, 'content-type': 'application/json', ...headers }
      const outgoing = httpRequest({ port, method, path, headers: sent, agent: false }, async (response) => {
        const chunks = await response.toArray()
        resolve({ status: response.statusCode ?? 0, body: chunks.join('') })
      })
      outgoing.on('error', () => resolve({ status: 0, body: '' })).end(body)
    })

  const large = Buffer.alloc(4_500_000, 'x')
  const accepted = large.subarray(0, 4_000_000)

  it.each([
    ['nginx.conf has the limits of the API', (text: string) => text],
    [
      'only the API has limits',
      (text: string) => text.replaceAll(/client_max_body_size \w+/g, 'client_max_body_size 9m'),
    ],
  ])('two senders of bodies of 4.5 MB get 413, and eight readers get all responses: %s', async (_, adapt) => {
    const { port, stop } = await startNginx(adapt)
    const statuses: Record<string, number> = {}
    let sending = 2
    const count = (what: string, { status }: { status: number }) => {
      statuses[`${what} ${status}`] = (statuses[`${what} ${status}`] ?? 0) + 1
    }
    const sender = async () => {
      for (let sent = 0; sent < 10; sent++) {
        count('sender', await send(port, 'POST', '/api/v1/events', {}, large))
        // The response of a server that reads no more of the request, because its headers are invalid.
        count('invalid', await send(port, 'POST', '/api/v1/events/batch', { 'x-large': 'x'.repeat(20_000) }, accepted))
      }
      sending -= 1
    }
    const reader = async () => {
      while (sending > 0) count('reader', await send(port, 'GET', url))
    }
    await Promise.all([sender(), sender(), ...Array.from({ length: 8 }, reader)])
    await stop()
    expect(statuses).toEqual({ 'sender 413': 20, 'invalid 431': 20, 'reader 200': expect.any(Number) })
  })
})

describe('a web page of another origin', () => {
  const preflight = (app: App, origin: string) =>
    app.inject({
      method: 'OPTIONS',
      url,
      headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'authorization' },
    })
  const request = (app: App, origin: string) => app.inject({ url, headers: { origin, authorization: `ApiKey ${key}` } })

  it('a web page of another origin cannot read responses by default', async () => {
    const app = await open()
    expect((await preflight(app, 'https://app.example.com')).statusCode).toBe(405)
    expect((await request(app, 'https://app.example.com')).headers['access-control-allow-origin']).toBeUndefined()
  })

  it('a web page of an origin in CORS_ORIGINS can read responses; other pages cannot, and unknown paths stay 404', async () => {
    const app = await open({ CORS_ORIGINS: 'https://app.example.com,http://localhost:5173' })
    const allowed = await preflight(app, 'https://app.example.com')
    expect(allowed.statusCode).toBe(204)
    expect(allowed.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example.com',
      'access-control-allow-headers':
        'authorization, content-type, if-none-match, mcp-protocol-version, mcp-method, mcp-name',
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-max-age': '600',
    })
    expect(allowed.headers['access-control-allow-credentials']).toBeUndefined()
    const response = await request(app, 'http://localhost:5173')
    expect(response.statusCode).toBe(200)
    expect(response.headers['access-control-allow-origin']).toBe('http://localhost:5173')
    expect(response.headers['access-control-expose-headers']).toBe(
      'content-disposition, etag, link, retry-after, www-authenticate, x-as-of, x-bucket-count, x-event-notes, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, x-request-id, x-retained-from, x-truncated',
    )
    expect((await request(app, 'https://evil.example')).headers['access-control-allow-origin']).toBeUndefined()
    const refused = await app.inject({ url, headers: { origin: 'http://localhost:5173' } })
    expect([refused.statusCode, refused.headers['access-control-allow-origin']]).toEqual([401, 'http://localhost:5173'])
    expect((await app.inject({ method: 'POST', url: '/nowhere' })).statusCode).toBe(404)
    expect((await app.inject({ method: 'DELETE', url })).statusCode).toBe(405)
  })

  it('accepts only origins or * in CORS_ORIGINS', () => {
    expect(readSettings({ CORS_ORIGINS: '*' }).CORS_ORIGINS).toBe('*')
    const noOrigins = ['example.com', 'https://a.example/', 'https://a.example/x', '*,https://a.example', 'null']
    for (const CORS_ORIGINS of noOrigins) expect(() => readSettings({ CORS_ORIGINS })).toThrow(/^CORS_ORIGINS=/)
  })
})

it('a server responds 408 to slow headers, a slow body, and a client that sends single bytes', async () => {
  const app = await open({}, { arrivalMs: 900 })
  await app.listen({ port: 0 })
  const start = 'POST /api/v1/events HTTP/1.1\r\nHost: x\r\n'
  const inBody = `${start}Authorization: ApiKey ${key}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{`
  for (const response of await Promise.all([sendRaw(app, start), sendRaw(app, inBody)])) {
    expect(response).toMatch(/^HTTP\/1.1 408 /)
    expect(response).toContain('"error":"request_timeout"')
  }
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  const ended = new Promise((resolve) => socket.once('close', resolve))
  socket.write(start)
  const writing = setInterval(() => socket.write('X-Slow: 1\r\n'), 20)
  await ended
  clearInterval(writing)
})
