// @module-tag all

import { beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../src/http/context.ts'
import { useTestApp } from '../kit/app.ts'
import { expectOwnFiles } from './expectOwnFiles.ts'

const withoutPage = useTestApp()
let app: App

beforeAll(async () => {
  app = await openWith({ EXPLORE: 'on' })
})

const openWith = (changed: object) => withoutPage.open({ settings: { ...withoutPage.stores.settings, ...changed } })

describe('the page /explore', () => {
  it.each([
    [{ EXPLORE: 'on', HOST: '0.0.0.0' }, 200],
    [{ EXPLORE: 'off', HOST: '127.0.0.1' }, 404],
    [{ EXPLORE: undefined, HOST: '127.0.0.1' }, 200],
    [{ EXPLORE: undefined, HOST: '::1' }, 200],
    [{ EXPLORE: undefined, HOST: '0.0.0.0' }, 404],
    [{ EXPLORE: undefined, HOST: '127.example.com' }, 404],
  ])('is served with EXPLORE=on, and by default on a loopback address only: %j', async (settings, status) => {
    const server = await openWith(settings)
    for (const path of ['/explore', '/explore/explore.js', '/explore/explore.css']) {
      const { statusCode, body } = await server.inject(path)
      expect([path, statusCode]).toEqual([path, status])
      if (status === 404 && path === '/explore') expect(body).toContain('EXPLORE=on')
    }
  })

  it('loads files of this server only, also below a path of a proxy; clients cache them until they change', async () => {
    expect(await expectOwnFiles(app, '/explore')).toHaveLength(3)
  })

  it('has a content security policy without other hosts, inline styles and inline scripts', async () => {
    const policy = `${(await app.inject('/explore')).headers['content-security-policy']}`
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  it('is smaller than 150 kB, compressed, in all', async () => {
    const compressed = { 'accept-encoding': 'br' }
    const html = await app.inject({ url: '/explore', headers: compressed })
    const urls = (await expectOwnFiles(app, '/explore')).map((address) => new URL(address, 'http://here').pathname)
    const files = await Promise.all(urls.map((url) => app.inject({ url, headers: compressed })))
    const bytes = [html, ...files].reduce((sum, { rawPayload }) => sum + rawPayload.length, 0)
    expect(bytes).toBeLessThan(150_000)
  })
})
