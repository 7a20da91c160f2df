import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import type { App } from '../../src/http/context.ts'
import { packageRoot } from '../../src/package.ts'
import { openTestApp, type TestApp, testNowMs } from '../kit/app.ts'

let withoutPage: TestApp
let app: App

beforeAll(async () => {
  withoutPage = await openTestApp()
  const { stores } = withoutPage
  app = await buildApp({ settings: { ...stores.settings, EXPLORE: 'on' }, stores, now: () => testNowMs })
})
afterAll(async () => {
  await app?.close()
  await withoutPage?.close()
})

const addressesOf = (html: string) =>
  [...html.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)].map(([, address]) => `${address}`)

describe('the page /explore', () => {
  it('is served with EXPLORE=on only', async () => {
    const paths = ['/explore', '/explore/explore.js', '/explore/explore.css']
    for (const path of paths) {
      expect([path, (await withoutPage.app.inject(path)).statusCode]).toEqual([path, 404])
      expect([path, (await app.inject(path)).statusCode]).toEqual([path, 200])
    }
  })

  it('loads files of this server only, also below a path of a proxy; clients cache them until they change', async () => {
    const page = await app.inject('/explore')
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'public, no-cache',
    })
    const addresses = addressesOf(page.body)
    expect(addresses).toHaveLength(3)
    for (const address of addresses) {
      const { host, pathname, search } = new URL(address, 'http://proxy/below/explore')
      expect([host, search]).toEqual(['proxy', expect.stringMatching(/^\?v=\w{12}$/)])
      const file = await app.inject(pathname.replace(/^\/below/, '') + search)
      expect([pathname, file.statusCode, file.headers['cache-control']]).toEqual([
        pathname,
        200,
        'public, max-age=31536000, immutable',
      ])
      const unchanged = await app.inject({
        url: pathname.replace(/^\/below/, ''),
        headers: { 'if-none-match': `${file.headers.etag}` },
      })
      expect([unchanged.statusCode, unchanged.body]).toEqual([304, ''])
    }
  })

  it('has a content security policy without other hosts, inline styles and inline scripts', async () => {
    const policy = `${(await app.inject('/explore')).headers['content-security-policy']}`
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  it('is smaller than 150 kB, compressed, in all', async () => {
    const html = await app.inject({ url: '/explore', headers: { 'accept-encoding': 'br' } })
    const files = await Promise.all(
      addressesOf(brotliDecompressSync(html.rawPayload).toString()).map((address) =>
        app.inject({ url: new URL(address, 'http://here').pathname, headers: { 'accept-encoding': 'br' } }),
      ),
    )
    const bytes = [html, ...files].reduce((sum, { rawPayload }) => sum + rawPayload.length, 0)
    expect(bytes).toBeLessThan(150_000)
  })
})

describe('the bundle of the page', () => {
  it('has only packages with a license that permits use in proprietary products', async () => {
    const { metafile } = await build({
      entryPoints: [join(packageRoot, 'src/explore/explore.tsx')],
      absWorkingDir: packageRoot,
      bundle: true,
      write: false,
      metafile: true,
      outdir: 'dist/explore',
      jsx: 'automatic',
      jsxImportSource: 'preact',
    })
    const packages = new Set(
      Object.keys(metafile.inputs).flatMap((path) => /node_modules\/([^/]+)\//.exec(path)?.[1] ?? []),
    )
    expect([...packages].sort()).toEqual(['openapi-fetch', 'preact', 'uplot'])
    for (const name of packages) {
      const { license } = JSON.parse(readFileSync(join(packageRoot, 'node_modules', name, 'package.json'), 'utf8'))
      expect([name, license]).toEqual([name, 'MIT'])
    }
  })
})
