// @module-tag all

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { openMetrics } from '../../src/http/prometheusMetrics.ts'
import { packageRoot } from '../../src/package.ts'
import { useTestApp } from '../kit/app.ts'

const page = readFileSync(join(packageRoot, 'docs/security.md'), 'utf8')
const parts = page.split(/^## /m)
const [routesPart = ''] = parts.filter((part) => part.startsWith('The routes'))
const riskParts = parts.filter((part) => /^API\d/.test(part))
const packagesPart = parts.find((part) => part.startsWith('Packages')) ?? ''
const sendersPart = parts.find((part) => part.startsWith('Rows of senders')) ?? ''
const groups = new Map(rowsOf(routesPart).map(([name = '', routes = '']) => [name, routes]))
const reads = ['Lists', 'Items', 'Searches', 'Figures', 'Tools']
/** The names of several groups in the tables. */
const sets: Record<string, string[]> = { reads, API: [...reads, 'Events'], all: [...groups.keys()] }

const metrics = openMetrics()
useTestApp({ metrics })
/** Method and path of every route of the router, also of those that the OpenAPI document lacks: each has its metrics from the start. */
let routes: { method: string; url: string }[]
beforeAll(async () => {
  const text = await metrics.registry.getSingleMetricAsString('http_requests_total')
  const found = [...text.matchAll(/method="(\w+)",route="([^"]+)"/g)]
  routes = found.map(([, method = '', url = '']) => ({
    method,
    url: url.replace(/^(\/api\/v1\/docs|\/explore)\/.*/, '$1'),
  }))
})

describe('docs/security.md', () => {
  it('lists every route of the server', () => {
    const named = new Set([...routesPart.matchAll(/`(\/[^`]*)`/g)].map(([, route]) => route))
    expect(named).toEqual(new Set([...routes.map(({ url }) => url), '/metrics']))
  })

  it('names every route that is not a read: only events are written', () => {
    const writes = routes.flatMap(({ method, url }) => (/^(GET|HEAD)$/.test(method) ? [] : [url]))
    expect(writes).toContain('/api/v1/mcp')
    for (const url of writes) expect(groups.get(url === '/api/v1/mcp' ? 'Tools' : 'Events')).toContain(`${url}\``)
  })

  it('covers every group of routes with a key under every risk', () => {
    expect(riskParts.map((part) => /^API(\d+):2023 /.exec(part)?.[1])).toEqual([...'123456789', '10'])
    for (const part of riskParts) {
      const named = rowsOf(part).flatMap(([routes = '']) => routes.split(', '))
      const covered = named.flatMap((name) => sets[name] ?? [name])
      for (const name of covered) expect([...groups.keys()]).toContain(name)
      expect(covered, part.split('\n')[0]).toEqual(expect.arrayContaining(sets.API as string[]))
    }
  })

  it('names only existing tests', () => {
    const files = readdirSync(join(packageRoot, 'test'), { recursive: true, encoding: 'utf8' })
    const tests = files
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => readFileSync(join(packageRoot, 'test', file), 'utf8').replaceAll("\\'", "'"))
    const proofs = [...riskParts, packagesPart, sendersPart].flatMap(rowsOf).map((cells) => cells.at(-1) ?? '')
    for (const proof of proofs) {
      const [, title = ''] = /^(?:.*?: )?_(.+)_$/.exec(proof) ?? []
      expect(title, proof).not.toBe('')
      const quoted = title.replaceAll('\\', '')
      expect(
        tests.some((text) => text.includes(quoted)),
        proof,
      ).toBe(true)
    }
    expect(proofs.length).toBeGreaterThan(60)
  })
})

function rowsOf(part: string): string[][] {
  const lines = part.split('\n').filter((line) => line.startsWith('| '))
  return lines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
}
