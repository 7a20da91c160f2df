// @module-tag long

import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { storedEvents } from '../api/events/send.ts'
import { useTestApp } from '../kit/app.ts'
import { storeClicks, storeMetadata } from '../kit/rows.ts'
import { useEmptyProject } from './emptyProject.ts'

// Runs the commands and the programs of docs/tools/generated-clients.md, unchanged but for the address of the server.

const api = useTestApp()
const { folder, run } = useEmptyProject([])
const page = readFileSync(join(packageRoot, 'docs/tools/generated-clients.md'), 'utf8')
const [start = '', ...generators] = page.split('\n## ')
const blocksOf = (text: string, language: string) =>
  [...text.matchAll(/```(\w+)\n(.*?)```/gs)].flatMap(([, word, code = '']) => (word === language ? [code] : []))
let environment: Record<string, string>

/** Runs commands with the settings and the cache of npm. */
const runShell = (commands: string) =>
  run('sh', ['-ec', commands.replaceAll('https://api.example.com', `${environment.TRIBUTARY_URL}`)], {
    HOME: process.env.HOME ?? '',
    npm_config_ignore_scripts: 'true',
    npm_config_audit: 'false',
  })

beforeAll(async () => {
  const key = await api.account('acme')
  await storeMetadata(api.stores, 'campaigns', 'acme', [{ id: 'k1' }])
  const click = (n: number) => ({
    id: `c-${n}`,
    clicked_at: `2026-11-20 10:00:0${n}.000`,
    campaign_id: 'k1',
    country: n === 1 ? 'DE' : 'US',
    device: 'mobile',
  })
  await storeClicks(api.stores, 'acme', [1, 2, 3, 4, 5].map(click))
  const url = await api.app.listen({ port: 0, host: '127.0.0.1' })
  environment = { TRIBUTARY_URL: url, TRIBUTARY_KEY: key }
  await runShell(blocksOf(start, 'sh').join(''))
})

it.each(generators.map((text) => [text.split('\n')[0] ?? '', text] as const))(
  'a client of %s compiles strictly, and reads a report, two pages and an error, and sends an event',
  async (_name, text) => {
    const names: string[] = []
    for (const code of blocksOf(text, 'ts')) {
      const name = /^\/\/ ([\w.]+\.ts)\n/.exec(code)?.[1] ?? ''
      await writeFile(folder(name), code)
      names.push(name)
    }
    await runShell(blocksOf(text, 'sh').join(''))
    const programOf = (path: string) => join(packageRoot, 'node_modules', path)
    const options =
      '--strict --noEmit --skipLibCheck --target es2023 --module esnext --moduleResolution bundler --types node'
    const words = [...options.split(' '), '--typeRoots', programOf('@types'), ...names]
    const compiled = await run(process.execPath, [programOf('typescript/bin/tsc'), ...words]).catch((error) => error)
    expect(compiled.stdout).toBe('')
    const program = names.at(-1) ?? ''
    const started = ['--import', programOf('tsx/dist/loader.mjs'), program]
    const { stdout } = await run(process.execPath, started, environment)
    expect(stdout).toBe('United States / mobile 4\nGermany / mobile 1\nc-5 c-4 c-3 c-2\ntrue\nnot_found\n')
    const sent = `${program.replace('Program.ts', '')}-1`
    expect((await storedEvents(api.stores, 'acme')).map(({ id }) => id)).toContain(sent)
  },
)
