import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/app.ts'
import { openTestApp, type TestApp, testNowMs } from '../kit/app.ts'

let server: TestApp

beforeAll(async () => {
  server = await openTestApp()
})
afterAll(() => server.close())

interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security: Record<string, string[]>[]
  parameters?: {
    name: string
    in: string
    required?: boolean
    schema: Record<string, unknown>
    description?: string
    example?: unknown
    examples?: unknown
  }[]
  responses: Record<
    string,
    { description: string; headers: Record<string, unknown>; content?: Record<string, { schema: Schema }> }
  >
}

interface Schema {
  $ref?: string
  items?: Schema
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  allOf?: Schema[]
  required?: string[]
}

async function document() {
  const response = await server.get('/docs/json')
  expect(response.statusCode).toBe(200)
  return response.json<{
    openapi: string
    servers: { url: string }[]
    tags: { name: string; description: string }[]
    paths: Record<string, Record<string, Operation>>
    components: { securitySchemes: object; schemas: Record<string, Schema> }
  }>()
}

async function operations() {
  const { paths } = await document()
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
}

describe('the OpenAPI document', () => {
  it('is public and has the address and the authentication of the API', async () => {
    const { openapi, servers, components } = await document()
    expect(openapi).toBe('3.1.0')
    expect(servers).toEqual([{ url: 'http://127.0.0.1:3000/api/v1' }])
    expect(components.securitySchemes).toMatchObject({
      apiKey: { type: 'apiKey', in: 'header', name: 'Authorization' },
    })
  })

  it('has the scope, the resource and all errors of every operation', async () => {
    const { tags } = await document()
    const all = await operations()
    expect(all.length).toBeGreaterThan(1)
    for (const { operation } of all) {
      const scope = operation.security[0]?.apiKey?.[0]
      expect(operation.description).toContain(scope ? `Scope: \`${scope}\`.` : 'Scope: none')
      expect(tags.map(({ name }) => name)).toEqual(expect.arrayContaining(operation.tags))
      expect(operation.summary).toBeTruthy()
      expect(Object.keys(operation.responses)).toEqual(
        expect.arrayContaining(['200', '400', '401', '403', '429', '503']),
      )
      for (const response of Object.values(operation.responses)) {
        expect(response.headers['X-Request-Id']).toEqual({ $ref: '#/components/headers/RequestId' })
      }
      expect(operation.responses['429']?.headers).toHaveProperty('Retry-After')
      for (const { name } of operation.parameters?.filter((parameter) => parameter.in === 'query') ?? []) {
        expect(operation.responses['400']?.description).toContain(`\`invalid_${name}\``)
      }
    }
    const ids = all.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('documents the scopes that are enforced: a key without the scope is rejected', async () => {
    const every = await server.account('all-scopes')
    for (const { path, method, operation } of await operations()) {
      if (method !== 'get' || path.includes('{')) continue
      const scope = operation.security[0]?.apiKey?.[0]
      if (!scope) continue
      const refused = await server.get(path, await server.account(`without-${operation.operationId}`, { scopes: [] }))
      expect([path, refused.statusCode, refused.json().required]).toEqual([path, 403, scope])
      expect([401, 403]).not.toContain((await server.get(path, every)).statusCode)
    }
  })

  it('writes unions as enums and path parameters in braces', async () => {
    const { paths } = await document()
    const parameters = paths['/reports']?.get?.parameters
    expect(parameters?.find(({ name }) => name === 'group_by')).toMatchObject({ required: true })
    const sort = parameters?.find(({ name }) => name === 'sort')
    expect(sort).toMatchObject({ schema: { type: 'string', enum: expect.arrayContaining(['-clicks']) } })
    for (const path of Object.keys(paths)) expect(path).not.toMatch(/:|^\/api|docs|health/)
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
        ['br;q=0.1, gzip;q=0.2', 'gzip', gunzipSync],
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

  it('has no unresolved references', async () => {
    const whole = await document()
    const references = [...JSON.stringify(whole).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '')
    for (const path of references) {
      const target = path.split('/').reduce<unknown>((node, name) => (node as Record<string, unknown>)?.[name], whole)
      expect([path, typeof target]).toEqual([path, 'object'])
    }
  })
})

describe('every row in the OpenAPI document', () => {
  it('has a named schema: lists of objects refer to components', async () => {
    const { components } = await document()
    for (const { path, operation } of await operations()) {
      const { schema } = operation.responses['200']?.content?.['application/json'] ?? {}
      const name = schema?.$ref?.split('/').at(-1)
      const { data } = (name ? components.schemas[name] : schema)?.properties ?? {}
      if (data) expect([path, data.items?.$ref]).toEqual([path, expect.stringMatching(/^#\/components\/schemas\/\w+$/)])
      else expect([path, name ?? schema?.anyOf ?? schema?.allOf]).not.toEqual([path, undefined])
    }
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining([
        'Click',
        'Conversion',
        'StoredEvent',
        'Campaign',
        'Offer',
        'LandingPage',
        'TrafficSource',
        'ReportRow',
      ]),
    )
  })

  it('requires only the id where `fields` selects the fields, and all fields elsewhere', async () => {
    const { paths, components } = await document()
    const schemaOf = (path: string) => paths[path]?.get?.responses['200']?.content?.['application/json']?.schema
    for (const [list, one, name] of [
      ['/campaigns', '/campaigns/{id}', 'Campaign'],
      ['/events', '/events/{id}', 'StoredEvent'],
    ] as const) {
      const row = { $ref: `#/components/schemas/${name}` }
      const { required, properties = {} } = components.schemas[name] ?? {}
      expect([required, schemaOf(list)?.properties?.data?.items]).toEqual([['id'], row])
      expect(schemaOf(one)).toEqual({ allOf: [row], required: Object.keys(properties) })
    }
  })
})

describe('examples in the OpenAPI document', () => {
  it('are given for every required parameter and for no optional one, so that tools prefill no filter', async () => {
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
})

describe('the address of the API in the documentation', () => {
  it('is PUBLIC_URL, whatever the Host header says', async () => {
    const { stores } = server
    const settings = { ...stores.settings, PUBLIC_URL: 'https://api.example.com/analytics' }
    const app = await buildApp({ settings, stores, now: () => testNowMs })
    const headers = { host: 'evil.example' }
    const { servers, info, paths } = (await app.inject({ url: '/api/v1/docs/json', headers })).json()
    expect(JSON.stringify(paths['/offers'].get)).toContain(
      "createTributary({ baseUrl: 'https://api.example.com/analytics',",
    )
    expect(servers).toEqual([{ url: 'https://api.example.com/analytics/api/v1' }])
    expect(info.description).toContain("'https://api.example.com/analytics/api/v1/reports?")
    const { body: text } = await app.inject({ url: '/llms.txt', headers })
    expect(text).toContain('https://api.example.com/analytics/api/v1/docs/json')
    expect(text).not.toContain('evil.example')
    await app.close()
  })

  it('has the port that the server listens on when PORT is 0', async () => {
    const { stores } = server
    const app = await buildApp({ settings: { ...stores.settings, PORT: 0 }, stores, now: () => testNowMs })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    expect((await app.inject('/api/v1/docs/json')).json().servers).toEqual([{ url: `${url}/api/v1` }])
    await app.close()
  })
})

describe('llms.txt', () => {
  it('has every operation, parameter, guide and schema, at both of its paths', async () => {
    const text = (await server.get('/docs/llms.txt')).body
    expect((await server.app.inject('/llms.txt')).body).toBe(text)
    for (const { path, method, operation } of await operations()) {
      const [, section = ''] = text.split(`\n### ${method.toUpperCase()} ${path}\n`)
      expect(section.split('\n### ')[0]).toContain(operation.summary)
      for (const { name } of operation.parameters ?? []) expect(section.split('\n### ')[0]).toContain(`- \`${name}\` (`)
    }
    const { tags, components } = await document()
    for (const { name, description } of tags) expect(text).toContain(`## ${name}\n\n${description}`)
    for (const name of Object.keys(components.schemas)) expect(text).toContain(`\n### ${name}\n`)
    expect(text).not.toContain('undefined')
    // Links are absolute: the text may be read without its address.
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link)
    expect(links.length).toBeGreaterThan(2)
    for (const link of links) expect(link).toMatch(/^http:\/\/127\.0\.0\.1:3000\/api\/v1\/docs/)
  })
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
    const page = await server.get('/docs')
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers['cache-control']).toBe('public, no-cache')
    const loaded = [...page.body.matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"/g)].map(
      ([, url]) => url ?? '',
    )
    expect(loaded.length).toBeGreaterThan(3)
    for (const address of loaded) {
      const { pathname, search, host } = new URL(address, 'http://here/api/v1/docs')
      expect([host, search]).toEqual(['here', expect.stringMatching(/^\?v=\w{12}$/)])
      const file = await server.app.inject(pathname + search)
      expect([pathname, file.statusCode, file.headers['cache-control']]).toEqual([
        pathname,
        200,
        'public, max-age=31536000, immutable',
      ])
      const other = await server.app.inject(`${pathname}?v=older`)
      expect([pathname, other.headers['cache-control']]).toEqual([pathname, 'public, no-cache'])
    }
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
