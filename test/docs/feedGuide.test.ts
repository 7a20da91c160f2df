// @module-tag all

import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { useFolder, useTestStores } from '../kit/fixtures.ts'
import { isInstalled } from '../kit/isInstalled.ts'
import { freePort } from '../kit/serverProcess.ts'
import { Shell } from './shell.ts'
import { blocksOf } from './shellBlocks.ts'

const folder = useFolder()
const stores = useTestStores()
let shell: Shell
/** The ports of the page may be in use. */
const ports = new Map<string, string>()
beforeAll(async () => {
  const { PATH = '', HOME = '' } = process.env
  shell = new Shell(packageRoot, { ...stores.environment, PATH, HOME, TMPDIR: mkdtempSync(folder('shell-')) })
  for (const shown of ['3100']) ports.set(shown, `${await freePort()}`)
  await shell.paste('tributary() { node dist/src/main.js "$@"; }')
})
afterAll(() => shell?.close())
const onFreePorts = (text: string) =>
  [...ports].reduce((changed, [shown, free]) => changed.replaceAll(shown, free), text)

const others = { php: existsSync('/usr/bin/php'), go: existsSync('/usr/bin/go') }

describe.skipIf(!isInstalled('curl', 'jq'))('docs/feed.md', () => {
  for (const { source, language, commands, text } of blocksOf('docs/feed.md', ['sh', 'js', 'php', 'go'])) {
    const isOther = language === 'php' || language === 'go'
    it.skipIf(isOther && !others[language])(`${source} runs unchanged`, isOther ? { tags: 'long' } : {}, async () => {
      let output = ''
      if (language === 'sh') for (const line of commands) output = await shell.paste(onFreePorts(line))
      else {
        const file = folder(`${language === 'js' ? 'send.mjs' : `send.${language}`}`)
        writeFileSync(file, onFreePorts(commands.join('\n')))
        output = await shell.paste(`${language === 'js' ? 'node' : language === 'go' ? 'go run' : language} ${file}`)
      }
      if (text !== undefined) expect(output.trim()).toBe(text)
    })
  }
})
