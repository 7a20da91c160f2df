// @module-tag all

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { batchLimits } from '../../schema/eventBatch.ts'
import { buildFeedServer } from '../../src/feed/routes.ts'
import { originsOf } from '../../src/feed/rowOrigins.ts'
import { packageRoot } from '../../src/package.ts'
import { readSettings, SettingsSchema } from '../../src/settings/settings.ts'
import { startClickHouse } from '../kit/clickhouseServer.ts'
import { fileOf, isInstalled } from '../kit/isInstalled.ts'
import { startPostgres } from '../kit/postgresServer.ts'
import { freePort } from '../kit/serverProcess.ts'

interface Service {
  image: string
  entrypoint?: string[]
  command?: string[]
  environment?: Record<string, string | number>
  volumes?: string[]
  networks?: { default: { ipv4_address: string } }
  healthcheck?: { test?: string[]; disable?: boolean }
}

const read = (path: string) => readFileSync(join(packageRoot, path), 'utf8')
const { services } = parseYaml(read('deploy/compose.yaml')) as { services: Record<string, Service> }
const ours = Object.entries(services).filter(([, { image }]) => image === 'tributary')
const dockerfile = read('deploy/Dockerfile')

const secret = 'a-secret-that-has-at-least-32-characters'

/** Words of a command as Docker Compose reads them. */
const wordsOf = (words: readonly string[]) => words.map((word) => word.replaceAll('$$', '$'))

/** Runs the health check of a service. @param address an address in the check, and the address of the test, which replaces it */
async function isHealthy(name: string, address: [string, string], environment: Record<string, string> = {}) {
  const [kind, ...words] = wordsOf(services[name]?.healthcheck?.test ?? [])
  const [program = '', ...rest] = [...(kind === 'CMD-SHELL' ? ['sh', '-c'] : []), ...words].map((word) =>
    word.replace(...address),
  )
  const child = spawn(program, rest, { stdio: 'ignore', env: { PATH: process.env.PATH, ...environment } })
  return (await once(child, 'exit'))[0] === 0
}

describe('deploy/compose.yaml', () => {
  it('uses existing settings with valid values', () => {
    expect(ours.map(([name]) => name)).toEqual(['api1', 'api2', 'feed', 'migrate'])
    for (const [, { environment = {} }] of ours) {
      const given = Object.fromEntries(
        Object.entries(environment).map(([name, value]) => [name, `${value}`.replace(/\$\{\w+:\?\}/g, secret)]),
      )
      for (const name of Object.keys(given)) expect(Object.keys(SettingsSchema.properties)).toContain(name)
      expect(readSettings(given)).toMatchObject({
        CLICKHOUSE_URL: expect.stringContaining(`:${secret}@clickhouse:8123/`),
      })
    }
  })

  it('checks the health of each role on its own port', async () => {
    const server = buildFeedServer({
      token: secret,
      feed: () => undefined,
      origin: originsOf(false, Date.now),
      log: pino({ level: 'silent' }),
      metrics: undefined,
    })
    onTestFinished(() => server.close())
    await server.listen({ host: '127.0.0.1', port: 0 })
    const port = `${(server.server.address() as AddressInfo).port}`
    const [, ofImage = ''] = /^HEALTHCHECK .*\n {2}CMD (.*)$/m.exec(dockerfile) ?? []
    const exits = ours.map(async ([name, { healthcheck, command }]) => {
      if (healthcheck?.disable) return [name, command]
      const [program = '', ...words] = healthcheck?.test?.slice(1) ?? (JSON.parse(ofImage) as string[])
      const PORT = name === 'feed' ? { FEED_PORT: port, PORT: '1' } : { PORT: port }
      const child = spawn(program, words, { env: { PATH: process.env.PATH, ...PORT } })
      return [name, (await once(child, 'exit'))[0]]
    })
    expect(Object.fromEntries(await Promise.all(exits))).toEqual({ api1: 0, api2: 0, feed: 0, migrate: ['migrate'] })
  })

  it.skipIf(!isInstalled('wget', 'postgresql-15', 'redis-server'))(
    'checks the health of the databases and Redis',
    async () => {
      const [clickhouse, postgres, port] = await Promise.all([startClickHouse(), startPostgres(), freePort()])
      const [shell = '', option = '', command] = wordsOf(services.redis?.command ?? [])
      const redisWords = [option, `${command} --port ${port} --bind 127.0.0.1`]
      const password = { REDIS_PASSWORD: secret }
      const redis = spawn(shell, redisWords, {
        stdio: 'ignore',
        cwd: tmpdir(),
        env: { PATH: process.env.PATH, ...password },
      })
      const atPort = { PGPORT: new URL(postgres.url('')).port }
      const checks = () =>
        Promise.all([
          isHealthy('clickhouse', ['$(hostname):8123', new URL(clickhouse.url('')).host]),
          isHealthy('postgres', ['pg_isready', join(fileOf('postgresql-15'), 'pg_isready')], atPort),
          isHealthy('redis', ['redis-cli', `redis-cli -p ${port}`], password),
        ])
      await expect.poll(checks).toEqual([true, true, true])
      redis.kill('SIGKILL')
      await Promise.all([clickhouse.close(), postgres.close(), once(redis, 'exit')])
      expect(await checks()).toEqual([false, false, false])
    },
  )

  it('takes every password from deploy/.env.example and contains none', () => {
    const text = read('deploy/compose.yaml')
    const required = new Set([...text.matchAll(/\$\{(\w+):\?\}/g)].map(([, name]) => name))
    const listed = [...read('deploy/.env.example').matchAll(/^(\w+)=$/gm)].map(([, name]) => name)
    expect([...required].sort()).toEqual([...listed].sort())
    for (const line of text.split('\n').filter((line) => /PASSWORD: /.test(line))) expect(line).toMatch(/\$\{\w+:\?\}$/)
  })

  it('mounts existing files', () => {
    const files = Object.values(services).flatMap(({ volumes = [] }) => volumes.filter((it) => it.startsWith('.')))
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) expect(existsSync(join(packageRoot, 'deploy', file.split(':')[0] ?? '')), file).toBe(true)
  })

  it('gives nginx.conf the limits of the API for bodies', () => {
    const [event, batch] = [...read('deploy/nginx.conf').matchAll(/client_max_body_size (\w+);/g)].map(([, it]) => it)
    expect(event).toBe(`${batchLimits.eventBytesMax / 1024}k`)
    expect(batch).toBe(`${batchLimits.bytesMax / 1024 / 1024}m`)
  })

  it('gives every instance in nginx.conf a fixed address', () => {
    const targets = [...read('deploy/nginx.conf').matchAll(/^\s*server (\w+):3000 /gm)].map(([, name]) => name)
    expect(targets).toEqual(ours.map(([name]) => name).filter((name) => name.startsWith('api')))
    const addresses = targets.map((name = '') => services[name]?.networks?.default.ipv4_address)
    // Below the range of addresses that the network assigns.
    for (const address of addresses) expect(address).toMatch(/^172\.28\.0\.([1-9]\d?|1[01]\d)$/)
    expect(new Set(addresses).size).toBe(targets.length)
  })
})

describe('deploy/tributary.service', () => {
  const unit = read('deploy/tributary.service')

  it('starts Node with the options of npm start, and stops as late as a server ends', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } }
    expect(unit).toContain(`ExecStart=/usr/bin/${scripts.start.replace('exec ', '')}\n`)
    expect(unit).toMatch(/^TimeoutStopSec=30$/m)
  })

  it.runIf(existsSync('/usr/bin/systemd-analyze'))(
    'is valid, and exposes little of the system',
    { tags: 'long' },
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'tributary-unit-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const file = join(folder, 'tributary-1.service')
      writeFileSync(file, unit.replace('/usr/bin/node', process.execPath))
      const analyze = (...words: string[]) => spawnSync('systemd-analyze', [...words, file], { encoding: 'utf8' })
      expect(analyze('verify')).toMatchObject({ status: 0, stderr: '' })
      // The threshold is ten times the exposure level, which is from 0 to 10.
      expect(analyze('security', '--offline=true', '--threshold=20')).toMatchObject({ status: 0 })
    },
  )
})

it('deploy/tributary-feed.service runs the feed, with all restrictions of an instance', () => {
  const [feed, instance] = ['tributary-feed', 'tributary'].map((name) =>
    read(`deploy/${name}.service`)
      .split('\n')
      .filter((line) => /^[A-Z]\w+=/.test(line)),
  )
  const own = ['Description=Tributary feed', 'StateDirectory=tributary-feed', 'StateDirectoryMode=0700']
  const heap = '--max-semi-space-size=16 --heap-growing-percent=50'
  const command = instance
    ?.find((line) => line.startsWith('ExecStart='))
    ?.replace(/--\S+ --\S+ (\S+) serve/, `${heap} $1 feed`)
  // The container has the same options.
  expect(services.feed?.entrypoint?.join(' ')).toBe(`node ${heap} dist/src/main.js`)
  expect(feed?.filter((line) => !instance?.includes(line))).toEqual([own[0], command, ...own.slice(1)])
  expect(instance?.filter((line) => !feed?.includes(line))).toHaveLength(2)
})

it.skipIf(!isInstalled('git'))(
  'files with passwords are ignored by .gitignore in every folder; the example file is not',
  () => {
    const repository = mkdtempSync(join(tmpdir(), 'tributary-ignored-'))
    onTestFinished(() => rmSync(repository, { recursive: true }))
    execFileSync('git', ['init', '--quiet', repository])
    copyFileSync(join(packageRoot, '.gitignore'), join(repository, '.gitignore'))
    const isIgnored = (path: string) =>
      spawnSync('git', ['check-ignore', '--quiet', path], { cwd: repository }).status === 0
    const secret = ['.env', 'deploy/.env', 'tributary.env', 'deploy/production.env', 'deploy/.env.production']
    expect(secret.filter((path) => !isIgnored(path))).toEqual([])
    expect(isIgnored('deploy/.env.example')).toBe(false)
  },
)

it('files with passwords are excluded from images by .dockerignore, after the included folders', () => {
  const lines = read('.dockerignore').trim().split('\n')
  const lastIncluded = lines.findLastIndex((line) => line.startsWith('!'))
  expect(lines.slice(lastIncluded + 1)).toEqual(expect.arrayContaining(['**/.env', '**/*.env', '**/.env.*']))
})

describe('deploy/Dockerfile', () => {
  it('has the Node version of development, and omits the embedded engines', () => {
    const versions = [...dockerfile.matchAll(/^FROM node:(\d+)-/gm)].map(([, version]) => version)
    expect(new Set(versions)).toEqual(new Set([read('.nvmrc').trim().replace(/^v/, '').split('.')[0]]))
    expect(dockerfile).toMatch(/npm ci .*--omit=dev --omit=optional/)
    expect(dockerfile).toMatch(/^USER node$/m)
    const settings = /^ENV (.*)$/m.exec(dockerfile)?.[1]?.split(' ') ?? []
    const names = settings.map((word) => word.split('=')[0] ?? '').filter((name) => name !== 'NODE_ENV')
    for (const name of names) expect(Object.keys(SettingsSchema.properties)).toContain(name)
  })

  it('has labels with the license of package.json, and with the build arguments of the command in its head', () => {
    const labels = Object.fromEntries(
      [...dockerfile.matchAll(/org\.opencontainers\.image\.(\w+)=(\S+)/g)].map(([, label, value]) => [label, value]),
    )
    const { name, license } = JSON.parse(read('package.json')) as { name: string; license: string }
    const given = { version: '$VERSION', revision: '$COMMIT', created: '$CREATED' }
    expect(labels).toEqual({ title: name, licenses: license, ...given })
    const passed = [...dockerfile.matchAll(/^#.*--build-arg.*$/gm)].join('\n').matchAll(/--build-arg (\w+)=/g)
    expect([...passed].map(([, argument]) => `$${argument}`).toSorted()).toEqual(Object.values(given).toSorted())
    // After the last FROM, a value of an earlier stage is not set.
    const stage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
    const declared = /^ARG (.*)$/m
      .exec(stage)?.[1]
      ?.split(' ')
      .map((argument) => `$${argument.split('=')[0]}`)
    expect(declared?.toSorted()).toEqual(Object.values(given).toSorted())
  })

  it('is not built with another version than the one of package.json', () => {
    const [, check = ''] = /^ARG VERSION=\nRUN (.*)$/m.exec(dockerfile) ?? []
    const { version } = JSON.parse(read('package.json')) as { version: string }
    const statusOf = (VERSION: string) =>
      spawnSync('sh', ['-c', check], { cwd: packageRoot, env: { PATH: process.env.PATH, VERSION } }).status
    expect([version, '', '0.0.1'].map(statusOf)).toEqual([0, 0, 1])
  })
})

it('an installation without Docker copies every folder that the program reads', () => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] }
  const [sentence] = /^Copy `package\.json`.*$/m.exec(read('docs/setup.md')) ?? []
  const folders = files.filter((name) => name !== 'docs' && !name.startsWith('!'))
  for (const folder of folders) expect([folder, sentence?.includes(`\`${folder}/\``)]).toEqual([folder, true])
})
