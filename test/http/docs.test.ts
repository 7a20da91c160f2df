// @module-tag all

import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { useTestApp } from '../kit/app.ts'
import { expectOwnFiles } from './expectOwnFiles.ts'

const server = useTestApp()

interface Operation {
  tags: string[]
  summary: string
  description: string
  security: Record<string, string[]>[]
  parameters?: {
    name: string
    required?: boolean
    schema: Record<string, unknown>
    example?: unknown
    examples?: unknown
  }[]
  responses: Record<string, { headers: Record<string, unknown> }>
}

async function document() {
  const response = await server.get('/docs/json')
  expect(response.statusCode).toBe(200)
  return response.json<{
    openapi: string
    servers: { url: string }[]
    tags: { name: string; description: string }[]
    'x-tagGroups': { name: string; tags: string[] }[]
    paths: Record<string, Record<string, Operation>>
    components: { securitySchemes: object; schemas: Record<string, object> }
  }>()
}

async function operations() {
  const { paths } = await document()
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
}

describe('the OpenAPI document', () => {
  it('has the scope, the resource and the request id of every operation', async () => {
    const { tags } = await document()
    for (const { operation } of await operations()) {
      const scope = operation.security[0]?.apiKey?.[0]
      expect(operation.description).toContain(scope ? `Scope: \`${scope}\`.` : 'Scope: none')
      expect(tags.map(({ name }) => name)).toEqual(expect.arrayContaining(operation.tags))
      for (const response of Object.values(operation.responses))
        expect(response.headers['X-Request-Id']).toEqual({ $ref: '#/components/headers/RequestId' })
    }
  })

  it('has no export format with ?formats=json, for generators of clients', async () => {
    const text = (await server.get('/docs/json?formats=json')).body
    expect(JSON.parse(text).paths['/reports'].get.responses[200].content).toEqual({
      'application/json': expect.objectContaining({ schema: { $ref: '#/components/schemas/Report' } }),
    })
    for (const word of ['application/vnd.apache.parquet', 'text/csv', 'csv_escape'])
      expect(text).not.toContain(`${word}"`)
    expect(text).not.toContain('invalid_csv')
  })

  it('has examples for every required parameter and for no optional one, so that tools prefill no filter', async () => {
    for (const { path, operation } of await operations()) {
      for (const { name, required, example, examples, schema } of operation.parameters ?? []) {
        const values = [example, examples, schema.example, schema.examples].filter((value) => value !== undefined)
        // `visitor_id` of a journey is required without `click_id`.
        const isNeeded = required || schema['x-required-without'] !== undefined
        if (!isNeeded) expect([path, name, values]).toEqual([path, name, []])
        else if (!schema.enum) expect([path, name, values]).not.toEqual([path, name, []])
      }
    }
  })

  it.each([
    ['/docs/json', 'application/json; charset=utf-8'],
    ['/docs/yaml', 'application/yaml; charset=utf-8'],
    ['/docs/llms.txt', 'text/plain; charset=utf-8'],
    ['/docs/page/scalar.js', 'application/javascript; charset=utf-8'],
  ])(
    'is compressed as the client accepts, and revalidated by ETag, like the files of the page: %s',
    async (path, type) => {
      const url = `/api/v1${path}`
      const plain = await server.get(path)
      expect(plain.headers).toMatchObject({ 'content-type': type, vary: 'accept-encoding', etag: expect.any(String) })
      for (const [accepted, coding, decode] of [
        ['gzip, deflate, br', 'br', brotliDecompressSync],
        ['gzip', 'gzip', gunzipSync],
      ] as const) {
        const response = await server.app.inject({ url, headers: { 'accept-encoding': accepted } })
        expect([response.headers['content-encoding'], response.headers['content-type']]).toEqual([coding, type])
        expect(response.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
        expect(decode(response.rawPayload).equals(plain.rawPayload)).toBe(true)
        const again = { 'accept-encoding': accepted, 'if-none-match': `${response.headers.etag}` }
        const unchanged = await server.app.inject({ url, headers: again })
        expect([unchanged.statusCode, unchanged.body, unchanged.headers.etag]).toEqual([304, '', plain.headers.etag])
      }
      const head = await server.app.inject({ method: 'HEAD', url })
      expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([
        200,
        '',
        `${plain.rawPayload.length}`,
      ])
    },
  )
})

it('the address of the API in the documentation is PUBLIC_URL, whatever the Host header says', async () => {
  const settings = { ...server.stores.settings, PUBLIC_URL: 'https://api.example.com/analytics' }
  const app = await server.open({ settings })
  const headers = { host: 'evil.example' }
  const { servers, info } = (await app.inject({ url: '/api/v1/docs/json', headers })).json()
  expect(servers).toEqual([{ url: 'https://api.example.com/analytics/api/v1' }])
  expect(info.description).toContain("'https://api.example.com/analytics/api/v1/reports?")
  const { body: text } = await app.inject({ url: '/llms.txt', headers })
  expect(text).toContain('https://api.example.com/analytics/api/v1/docs/json')
  expect(text).not.toContain('evil.example')
})

it('the address of the API in the documentation has the port that the server listens on when PORT is 0', async () => {
  const app = await server.open({ settings: { ...server.stores.settings, PORT: 0 } })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  expect((await app.inject('/api/v1/docs/json')).json().servers).toEqual([{ url: `${url}/api/v1` }])
})

it('llms.txt lists a page of Markdown for each guide and each resource, with every operation, parameter and schema', async () => {
  const text = (await server.get('/docs/llms.txt')).body
  expect((await server.app.inject('/llms.txt')).body).toBe(text)
  const links = [...text.matchAll(/^- \[([^\]]+)\]\(http:\/\/127\.0\.0\.1:3000\/api\/v1(\/docs\/[a-z-]+\.md)\)/gm)]
  const pages = new Map(
    await Promise.all(links.map(async ([, title, path]) => [title, await server.get(`${path}`)] as const)),
  )
  const { tags, components } = await document()
  expect([...pages.keys()]).toEqual([...tags.map(({ name }) => name), 'Schemas'])
  for (const { name, description } of tags) {
    expect(pages.get(name)?.headers['content-type']).toBe('text/markdown; charset=utf-8')
    expect(pages.get(name)?.body).toContain(`# ${name}\n\n${description}`)
  }
  for (const { path, method, operation } of await operations()) {
    const page = pages.get(`${operation.tags[0]}`)?.body ?? ''
    const [section = ''] = page.split(`\n## ${method.toUpperCase()} ${path}\n`)[1]?.split('\n## ') ?? []
    expect(section).toContain(`${operation.summary}. ${operation.description}`)
    for (const { name } of operation.parameters ?? []) expect(section).toContain(`\n- \`${name}\` (`)
  }
  for (const name of Object.keys(components.schemas)) expect(pages.get('Schemas')?.body).toContain(`\n## ${name}\n`)
  for (const { body } of pages.values()) expect(body).not.toContain('undefined')
  const unknown = await server.get('/docs/no-such-guide.md')
  expect(unknown.json().error).toBe('not_found')
  expect(unknown.headers['cache-control']).toBe('private, no-store')
})

describe('the documentation page', () => {
  it.each(['/', '/api/v1/docs/'])(
    'is where %s redirects to, also behind a proxy with a path of its own',
    async (url) => {
      const { statusCode, headers } = await server.app.inject(url)
      expect(statusCode).toBe(302)
      expect(new URL(`${headers.location}`, `http://proxy/below${url}`).pathname).toBe('/below/api/v1/docs')
    },
  )

  it('is public and loads files of this server only, which clients cache until their content changes', async () => {
    expect((await expectOwnFiles(server.app, '/api/v1/docs')).length).toBeGreaterThan(3)
  })

  it('has a content security policy without other hosts, inline scripts and evaluated scripts', async () => {
    const policy = `${(await server.get('/docs')).headers['content-security-policy']}`
    expect(policy).toContain("default-src 'none'; script-src 'self';")
    expect(policy).not.toMatch(/unsafe-eval|https?:|\*/)
    // The page adds style elements and attributes; nothing else may be inline.
    const inline = policy.split('; ').filter((directive) => directive.includes('unsafe'))
    expect(inline).toEqual(["style-src 'self' 'unsafe-inline'"])
  })
})
