import { expect } from 'vitest'
import type { App } from '../../src/http/context.ts'

/**
 * Checks that a page loads only files of its server, also below a path of a proxy, and that clients get each file once until
 * it changes.
 * @returns the addresses of the files
 */
export async function expectOwnFiles(app: App, path: string): Promise<string[]> {
  const page = await app.inject(path)
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'public, no-cache',
  })
  const links = page.body.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)
  const addresses = [...links].map(([, address]) => `${address}`)
  for (const address of addresses) {
    const { host, pathname } = new URL(address, `http://proxy/below${path}`)
    expect(host).toBe('proxy')
    const url = pathname.replace(/^\/below/, '')
    const file = await app.inject(url)
    expect([url, file.statusCode, file.headers['cache-control']]).toEqual([url, 200, 'public, no-cache'])
    const unchanged = await app.inject({ url, headers: { 'if-none-match': `${file.headers.etag}` } })
    expect([unchanged.statusCode, unchanged.body]).toEqual([304, ''])
  }
  return addresses
}
