// @module-tag all

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../../src/package.ts'
import { importContent } from '../../import/runImport.ts'
import { useTestApp } from '../../kit/app.ts'
import { useFolder } from '../../kit/fixtures.ts'

// `script` of util-linux runs a command on a terminal; `script` of macOS has other options.
describe.skipIf(process.platform !== 'linux')('the progress bar of tributary-sync', () => {
  const api = useTestApp()
  const folder = useFolder()
  let environment: NodeJS.ProcessEnv
  beforeAll(async () => {
    const key = await api.account('acme')
    const url = await api.app.listen({ port: 0, host: '127.0.0.1' })
    const program = join(packageRoot, 'src/packages/sync/dist/main.js')
    environment = { PATH: process.env.PATH, TERM: 'xterm', SHELL: '/bin/sh', TRIBUTARY_KEY: key, FOLDER: folder() }
    Object.assign(environment, { NODE: process.execPath, PROGRAM: program, URL: url })
    const clicks = ['18', '19', '20'].flatMap((day) =>
      [1, 2].map((n) => ({ id: `c${day}-${n}`, clickedAt: `2026-11-${day}T10:00:00Z` })),
    )
    await importContent(api.stores, 'acme', 'clicks', clicks)
  })

  async function onTerminal(target: string, more: string): Promise<string> {
    const command = `"$NODE" "$PROGRAM" "$FOLDER/${target}" --url "$URL" --resources clicks ${more}`
    const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], { env: environment })
    return stdout
  }

  it('shows the resource, the share, the rows and their rate, then disappears from the terminal', async () => {
    const shown = await onTerminal('bar', '')
    expect(shown).toContain(`clicks ${'█'.repeat(10)}${'░'.repeat(20)} 33 % · 2 rows, 2 per second`)
    // The line is cleared and the cursor shown again before the result.
    const ended = shown.slice(shown.lastIndexOf('per second'))
    expect(ended).toContain('\u001b[2K')
    expect(ended).toContain('\u001b[?25h')
    expect(shown.split('\r\n').slice(-3)).toEqual([
      expect.stringMatching(/Files written: clicks of 3 days\.$/),
      expect.stringMatching(/^Rows stored: clicks 6/),
      '',
    ])
  })

  it('is followed by the rows of --sql as a table', async () => {
    const shown = await onTerminal('copy.duckdb', `--sql "SELECT min(id) AS first, count(*) AS clicks FROM clicks"`)
    expect(shown).toContain('first  clicks\r\n─────  ──────\r\nc18-1       6\r\n')
  })

  it('is not shown in what a program reads from standard output', async () => {
    const shown = await onTerminal(
      'output',
      '--json > "$FOLDER/output.json"; cat "$FOLDER/output.json" | sed s/^/result:/',
    )
    expect(shown).toContain('33 %')
    expect(JSON.parse(/result:(.*)/.exec(shown)?.[1] ?? '')).toMatchObject({ rows: { clicks: 6 } })
  })
})
