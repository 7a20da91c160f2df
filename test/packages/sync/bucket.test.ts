// @module-tag all

import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { S3 } from '@aws-sdk/client-s3'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { openBucket } from '../../../src/packages/sync/files/bucket.ts'
import { run } from '../../../src/packages/sync/program.ts'
import { expectOneLine } from '../../cli/runCommand.ts'
import { importContent } from '../../import/runImport.ts'
import { openApiProxy } from '../../kit/apiProxy.ts'
import { useTestApp } from '../../kit/app.ts'
import { useFolder, useOpened } from '../../kit/fixtures.ts'
import { openS3Server, s3Credentials } from '../../kit/s3Server.ts'
import { runProgram } from '../runProgram.ts'
import { byCampaign, clickCount, clickDay, clicks, untilEventsAreListed, useSource } from './source.ts'

const api = useTestApp()
const source = useSource(api)
const folder = useFolder()
const store = useOpened(openS3Server)
const bucket = { Bucket: 'copies' }
let s3: S3
let environment: Record<string, string>

beforeAll(() => {
  environment = { PATH: process.env.PATH ?? '', TRIBUTARY_KEY: source.key, ...s3Credentials }
  const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
  // The client warns of each version of Node.js that it will not support in future.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'
  s3 = new S3({ endpoint: store.url, region: 'us-east-1', forcePathStyle: true, credentials })
})

const wordsOf = (target: string, url = source.baseUrl) => [target, '--url', url, '--endpoint', store.url, '--json']
const syncTo = (target: string, ...more: string[]) => runProgram(run, [...wordsOf(target), ...more], environment)

/** @returns the days of clicks whose files were written */
async function sync(...more: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await syncTo('s3://copies/data/acme', ...more)
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout).written.clicks
}

const days = ['2026-11-18', '2026-11-19', '2026-11-20']
const ofClicks = ['--resources', 'clicks']
const keyOf = (day: string) => `data/acme/clicks/day=${day}/part.parquet`

/** Downloads all objects. @returns the folder of the copy */
async function download(): Promise<string> {
  for (const Key of await store.keys()) {
    const { Body } = await s3.getObject({ ...bucket, Key })
    await mkdir(dirname(folder(Key)), { recursive: true })
    await writeFile(folder(Key), (await Body?.transformToByteArray()) ?? '')
  }
  return folder('data/acme')
}

describe('tributary-sync into a bucket', () => {
  it('continues after a kill, when the lock of the killed process has ended, and refuses a second writer before', async () => {
    await untilEventsAreListed(source.client, 80)
    const signals = new EventEmitter()
    const proxy = await openApiProxy(source.baseUrl, {
      async before(path) {
        if (!path.includes(`/clicks?from=${days[1]}`) || !path.includes('format=parquet')) return
        signals.emit('stalled')
        await once(signals, 'never')
      },
    })
    const stalled = once(signals, 'stalled')
    const program = join(packageRoot, 'src/packages/sync/dist/main.js')
    const child = spawn(process.execPath, [program, ...wordsOf('s3://copies/data/acme/', proxy.url)], {
      env: environment,
      stdio: 'ignore',
    })
    await stalled
    const refused = 'error: another tributary-sync writes to s3://copies/data/acme; stop it.'
    expectOneLine(await syncTo('s3://copies/data/acme'), 1, refused)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    expect(await ended).toEqual([null, 'SIGKILL'])
    await proxy.close()
    expectOneLine(await syncTo('s3://copies/data/acme'), 1, refused)
    await store.age('data/acme/.tributary-sync-lock', 61_000)
    expect(await sync()).toEqual(days.slice(1))
  })

  it('has the files of a folder and nothing else, and writes only what has changed', async () => {
    const all = await store.keys()
    for (const resource of ['clicks', 'conversions', 'costs', 'events'])
      expect(all).toContain(`data/acme/${resource}/day=${days[0]}/part.parquet`)
    const others = all.filter((key) => !key.includes('/day='))
    const metadata = ['campaigns', 'offers', 'landing_pages', 'traffic_sources'].map((name) => `${name}/part.parquet`)
    const states = ['clicks', 'conversions', 'costs', 'events'].map((name) => `${name}/.tributary-sync.json`)
    const names = [...metadata, ...states, '.tributary-sync-source.json'].map((name) => `data/acme/${name}`)
    expect(others.toSorted()).toEqual(names.toSorted())

    await importContent(api.stores, 'acme', 'clicks', clicks(clickCount, clickCount + 10))
    expect(await sync(...ofClicks)).toEqual([clickDay(clickCount)])
  })

  it('--verify writes the files again that are missing or are not those that were written', async () => {
    await s3.deleteObject({ ...bucket, Key: keyOf('2026-11-18') })
    await s3.putObject({ ...bucket, Key: keyOf('2026-11-20'), Body: 'damaged' })
    expect(await sync('--verify', ...ofClicks)).toEqual(['2026-11-18', '2026-11-20'])
    expect(await byCampaign.files(await download())).toEqual(await byCampaign.report(source.client))
    expect(await sync('--verify', ...ofClicks)).toEqual([])
  })

  it('explains wrong credentials, a bucket that does not exist or vanishes, and a store without connection in one line', async () => {
    for (const [name, code] of [
      ['AWS_ACCESS_KEY_ID', 'InvalidAccessKeyId'],
      ['AWS_SECRET_ACCESS_KEY', 'SignatureDoesNotMatch'],
    ] as const) {
      const ended = await runProgram(run, wordsOf('s3://copies/data'), { ...environment, [name]: 'other' })
      expectOneLine(ended, 1, `(${code}); check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and their permissions.`)
    }
    expectOneLine(await syncTo('s3://absent/data'), 1, 'error: the bucket absent does not exist.')
    const asked = await runProgram(run, ['s3://copies', '--no-sync', '--sql', 'SELECT 1'], environment)
    expectOneLine(asked, 2, '--sql needs a copy in PostgreSQL or')
    const closed = await openS3Server()
    await closed.close()
    expectOneLine(await syncTo('s3://copies/data', '--endpoint', closed.url), 1, 'error: s3://copies/data: ')
    const proxy = await openApiProxy(source.baseUrl, {
      before: (path) => path.includes('/conversions?') && store.removeBucket(),
    })
    expectOneLine(
      await runProgram(run, [...wordsOf('s3://copies/data', proxy.url), '--resources', 'conversions'], environment),
      1,
      'error: the bucket copies does not exist.',
    )
    await proxy.close()
    await store.createBucket()
    expect(await sync(...ofClicks)).toEqual(days)
  })
})

describe('the lock of a prefix', () => {
  const opened: { close(): Promise<void> }[] = []
  beforeEach(() => {
    for (const [name, value] of Object.entries(s3Credentials)) vi.stubEnv(name, value)
  })
  afterEach(async () => {
    vi.useRealTimers()
    vi.unstubAllEnvs()
    store.setAhead(0)
    for (const { close } of opened.splice(0)) await close()
  })

  async function open(prefix: string) {
    const storage = await openBucket(`s3://copies/${prefix}`, store.url, new AbortController().signal)
    opened.push(storage)
    return storage
  }
  const refusal = (prefix: string) => `another tributary-sync writes to s3://copies/${prefix}; stop it.`
  const age = (prefix: string) => store.age(`${prefix}/.tributary-sync-lock`, 61_000)

  it('has one writer when several start at the same time, also after a lock has ended', async () => {
    for (const prefix of ['free', 'ended']) {
      if (prefix === 'ended') {
        await s3.putObject({ ...bucket, Key: `${prefix}/.tributary-sync-lock`, Body: 'killed' })
        await age(prefix)
      }
      const started = await Promise.allSettled([1, 2, 3].map(() => open(prefix)))
      expect(started.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    }
    for (const { close } of opened.splice(0)) await close()
    await open('free')
  })

  it('is renewed while its writer lives, so that a writer that has read it before cannot replace it', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    await open('renewed')
    const lock = { ...bucket, Key: 'renewed/.tributary-sync-lock' }
    const { ETag: before = '' } = await s3.headObject(lock)
    await age('renewed')
    vi.advanceTimersByTime(15_000)
    const ageMs = async () => Date.now() - Number((await s3.headObject(lock)).LastModified)
    await expect.poll(ageMs, { timeout: 20_000 }).toBeLessThan(30_000)
    await expect(open('renewed')).rejects.toThrow(refusal('renewed'))
    await expect(s3.putObject({ ...lock, Body: 'late', IfMatch: before })).rejects.toMatchObject({
      $metadata: { httpStatusCode: 412 },
    })
  })

  it('stops a writer whose renewal finds another one', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const first = await open('found')
    await age('found')
    await open('found')
    vi.advanceTimersByTime(15_000)
    await expect(first.replace('file', ['1'])).rejects.toThrow(refusal('found'))
    await first.close()
    await expect(open('found')).rejects.toThrow(refusal('found'))
  })

  it('ends with its writer, also with one that is interrupted', async () => {
    const interrupted = new AbortController()
    const { close } = await openBucket('s3://copies/interrupted', store.url, interrupted.signal)
    interrupted.abort(new Error('interrupted'))
    await close()
    await open('interrupted')
  })

  it('does not depend on the clocks of writers', async () => {
    store.setAhead(-600_000)
    await open('clocks')
    await expect(open('clocks')).rejects.toThrow(refusal('clocks'))
  })

  it('stops a writer that has lost it to another one while it was paused', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const paused = await open('paused')
    await paused.replace('file', ['1'])
    await age('paused')
    const other = await open('paused')
    await other.replace('file', ['2'])
    vi.advanceTimersByTime(61_000)
    await expect(paused.replace('file', ['3'])).rejects.toThrow(refusal('paused'))
    await expect(paused.remove('file')).rejects.toThrow(refusal('paused'))
    expect(await other.read('file')).toBe('2')
    // Closing the one does not end the lock of the other.
    await paused.close()
    await expect(open('paused')).rejects.toThrow(refusal('paused'))
  })
})
