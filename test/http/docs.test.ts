import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestApp, type TestApp } from '../kit/app.ts'

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
  parameters?: { name: string; in: string; schema: Record<string, unknown>; description?: string }[]
  responses: Record<string, { description: string; headers: Record<string, unknown>; content: object }>
}

async function document() {
  const answer = await server.get('/docs/json')
  expect(answer.statusCode).toBe(200)
  return answer.json<{
    openapi: string
    servers: { url: string }[]
    tags: { name: string }[]
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
  it('is public and says where the API is and how to identify oneself', async () => {
    const { openapi, servers, components } = await document()
    expect(openapi).toBe('3.1.0')
    expect(servers).toEqual([{ url: '/api/v1' }])
    expect(components.securitySchemes).toMatchObject({
      apiKey: { type: 'apiKey', in: 'header', name: 'Authorization' },
    })
  })

  it('names for every call its scope, its resource and each way it can fail', async () => {
    const { tags } = await document()
    const all = await operations()
    expect(all.length).toBeGreaterThan(1)
    for (const { operation } of all) {
      const scope = operation.security[0]?.apiKey?.[0]
      expect(operation.description).toContain(`Scope: \`${scope}\`.`)
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

  it('shows what the gate enforces: a key with the scope it names is let in, one without is not', async () => {
    const every = await server.account('all-scopes')
    for (const { path, method, operation } of await operations()) {
      if (method !== 'get' || path.includes('{')) continue
      const scope = operation.security[0]?.apiKey?.[0]
      const refused = await server.get(path, await server.account(`without-${operation.operationId}`, { scopes: [] }))
      expect([path, refused.statusCode, refused.json().required]).toEqual([path, 403, scope])
      expect([401, 403]).not.toContain((await server.get(path, every)).statusCode)
    }
  })

  it('writes choices as enums and paths in braces', async () => {
    const { paths } = await document()
    const groupBy = paths['/reports']?.get?.parameters?.find(({ name }) => name === 'group_by')
    expect(groupBy).toMatchObject({ required: true, schema: { type: 'string', enum: expect.arrayContaining(['day']) } })
    for (const path of Object.keys(paths)) expect(path).not.toMatch(/:|^\/api|docs|health/)
  })

  it.each([
    ['/docs/json', 'application/json; charset=utf-8'],
    ['/docs/yaml', 'application/yaml; charset=utf-8'],
    ['/docs/static/swagger-ui-bundle.js', 'application/javascript; charset=utf-8'],
  ])('and the explorer are compressed as the client asks, and sent once: %s', async (path, type) => {
    const url = `/api/v1${path}`
    const plain = await server.get(path)
    expect(plain.headers).toMatchObject({ 'content-type': type, vary: 'accept-encoding', etag: expect.any(String) })
    for (const [accepted, coding, decode] of [
      ['gzip, deflate, br', 'br', brotliDecompressSync],
      ['gzip', 'gzip', gunzipSync],
      ['br;q=0.1, gzip;q=0.2', 'gzip', gunzipSync],
    ] as const) {
      const answer = await server.app.inject({ url, headers: { 'accept-encoding': accepted } })
      expect([answer.headers['content-encoding'], answer.headers['content-type']]).toEqual([coding, type])
      expect(answer.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2)
      expect(decode(answer.rawPayload).equals(plain.rawPayload)).toBe(true)
      const again = { 'accept-encoding': accepted, 'if-none-match': `${answer.headers.etag}` }
      const unchanged = await server.app.inject({ url, headers: again })
      expect([unchanged.statusCode, unchanged.body, unchanged.headers.etag]).toEqual([304, '', plain.headers.etag])
    }
    const head = await server.app.inject({ method: 'HEAD', url })
    expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([
      200,
      '',
      `${plain.rawPayload.length}`,
    ])
  })

  it('resolves every reference', async () => {
    const whole = await document()
    const references = [...JSON.stringify(whole).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path ?? '')
    for (const path of references) {
      const target = path.split('/').reduce<unknown>((node, name) => (node as Record<string, unknown>)?.[name], whole)
      expect([path, typeof target]).toEqual([path, 'object'])
    }
  })
})

describe('the explorer', () => {
  it('is public, and everything it loads comes from here', async () => {
    for (const url of ['/docs', '/docs/']) {
      const page = await server.get(url)
      expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
      const loaded = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '')
      expect(loaded.length).toBeGreaterThan(3)
      for (const address of loaded) {
        const { pathname, host } = new URL(address, 'http://here/api/v1/docs/')
        expect(host).toBe('here')
        const file = await server.app.inject(pathname)
        expect([pathname, file.statusCode]).toEqual([pathname, 200])
      }
    }
  })

  it('may load nothing from elsewhere and run nothing inline', async () => {
    const policy = `${(await server.get('/docs')).headers['content-security-policy']}`
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  it('sends a key that was pasted bare with its scheme', async () => {
    const source = (await server.get('/docs/static/swagger-initializer.js')).body
    const [, code] =
      /"requestInterceptor":(function[\s\S]*?\n?\}),"/.exec(source) ??
      /"requestInterceptor":(function[\s\S]*)\}\s*const resConfig/.exec(source) ??
      []
    const intercept = new Function(`return (${code})`)()
    for (const given of ['trb_live_x', ' trb_live_x ', 'ApiKey trb_live_x', 'apikey trb_live_x']) {
      const { headers } = intercept({ headers: { Authorization: given } })
      expect(headers.Authorization.toLowerCase()).toBe('apikey trb_live_x')
    }
    expect(intercept({ headers: {} })).toEqual({ headers: {} })
  })
})
