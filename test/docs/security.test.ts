// @module-tag all

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { useTestApp } from '../kit/app.ts'

const page = readFileSync(join(packageRoot, 'docs/security.md'), 'utf8')
const parts = page.split(/^## /m)
const [routesPart = ''] = parts.filter((part) => part.startsWith('The routes'))
const riskParts = parts.filter((part) => /^API\d/.test(part))
const packagesPart = parts.find((part) => part.startsWith('Packages')) ?? ''
const sendersPart = parts.find((part) => part.startsWith('Rows of senders')) ?? ''
const groups = new Map(rowsOf(routesPart).map(([name = '', routes = '']) => [name, routes]))
const reads = ['Lists', 'Items', 'Searches', 'Figures']
/** The names of several groups in the tables. */
const sets: Record<string, string[]> = { reads, API: [...reads, 'Events'], all: [...groups.keys()] }

const api = useTestApp()
let paths: Record<string, object>
beforeAll(async () => {
  paths = (await api.get('/docs/json')).json().paths
})

describe('docs/security.md', () => {
  it('lists every route of the server', () => {
    const documented = Object.keys(paths).map((path) => `/api/v1${path.replace(/\{(\w+)\}/g, ':$1')}`)
    const named = new Set([...routesPart.matchAll(/`(\/[^`]*)`/g)].map(([, route]) => route))
    const others = ['/api/v1/docs', '/', '/llms.txt', '/explore', '/healthz', '/readyz', '/metrics']
    expect(named).toEqual(new Set([...documented, ...others]))
  })

  it('names every route that is not a read: only events are written', () => {
    const writes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).some((method) => method !== 'get') ? [path] : [],
    )
    expect(writes.length).toBeGreaterThan(0)
    for (const path of writes) expect(groups.get('Events')).toContain(`/api/v1${path}\``)
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
