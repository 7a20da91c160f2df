// @module-tag all

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { useTestApp } from '../kit/app.ts'
import { isInstalled } from '../kit/isInstalled.ts'
import { storeClicks, storeConversions, storeMetadata } from '../kit/rows.ts'
import { warehouseGuides } from './warehouseGuideNames.ts'

const api = useTestApp()
let key: string

beforeAll(async () => {
  key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k1' }])
  const clicked = { clicked_at: '2026-11-20 10:00:00.000', campaign_id: 'k1', country: 'DE' }
  await storeClicks(api.stores, 'acme', [{ id: 'c-1', ...clicked }])
  // More than one page.
  const conversions = Array.from({ length: 201 }, (_, n) => ({
    id: `v${n}`,
    converted_at: '2026-11-20 11:00:00.000',
    campaign_id: 'k1',
    click_id: 'c-1',
    click_at: clicked.clicked_at,
  }))
  await storeConversions(api.stores, 'acme', conversions)
  await api.app.listen({ port: 0, host: '127.0.0.1' })
})

interface Texts {
  info: { description: string }
  tags: { name: string; description: string }[]
}

/** All of them are installed but Python. */
const programs: Record<string, readonly [program: string, ...words: string[]]> = {
  sh: ['sh', '-ec'],
  js: [process.execPath, '--input-type=module', '-e'],
  python: ['python3', '-c'],
}

it('every code block of the documentation page, but those about copies and language models, runs unchanged', async () => {
  const { info, tags } = (await api.get('/docs/json')).json<Texts>()
  // The others need databases: warehouseGuides.test.ts.
  const others = tags.filter(({ name }) => !(warehouseGuides as readonly string[]).includes(name))
  const text = [info, ...others].map(({ description }) => description).join('\n')
  const blocks = [...text.matchAll(/```(\w*)\n(.*?)```/gs)]
  expect(new Set(blocks.map(([, language]) => language))).toEqual(new Set(Object.keys(programs)))
  for (const [, language = '', code = ''] of blocks) {
    if ((language === 'python' && !isInstalled('python3')) || (language === 'sh' && !isInstalled('curl'))) continue
    const [program = '', ...words] = programs[language] ?? []
    const local = code.replaceAll('trb_live_…', key)
    const script = language === 'sh' ? `curl() { command curl -sS --fail-with-body "$@"; }\n${local}` : local
    const { stdout } = await promisify(execFile)(program, [...words, script])
    expect([code, stdout.trim()]).not.toEqual([code, ''])
    if (code.includes('user-9-')) expect(stdout.trim().split('\n').at(-1)).toBe('purchase 1 100')
    if (code.includes('cursor') && language === 'python') expect(stdout.trim().split('\n')).toHaveLength(201)
  }
})
