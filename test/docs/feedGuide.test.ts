// @module-tag all

import { existsSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
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
/** The port of the page may be in use. */
let port = ''
beforeAll(async () => {
  const { PATH = '', HOME = '' } = process.env
  shell = new Shell(packageRoot, { ...stores.environment, PATH, HOME, TMPDIR: mkdtempSync(folder('shell-')) })
  port = `${await freePort()}`
  symlinkSync(join(packageRoot, 'node_modules'), folder('node_modules'))
  await shell.paste('tributary() { node dist/src/main.js "$@"; }')
})
afterAll(() => shell?.close())
const onFreePort = (text: string) => text.replaceAll('3100', port)

const others = { php: existsSync('/usr/bin/php'), go: existsSync('/usr/bin/go') }

describe.skipIf(!isInstalled('curl', 'jq'))('docs/feed.md', () => {
  for (const { source, language, commands, text } of blocksOf('docs/feed.md', ['sh', 'js', 'php', 'go'])) {
    const isOther = language === 'php' || language === 'go'
    it.skipIf(isOther && !others[language])(`${source} runs unchanged`, isOther ? { tags: 'long' } : {}, async () => {
      let output = ''
      if (language === 'sh') for (const line of commands) output = await shell.paste(onFreePort(line))
      else {
        const file = folder(`${language === 'js' ? 'send.mjs' : `send.${language}`}`)
        writeFileSync(file, onFreePort(commands.join('\n')))
        output = await shell.paste(`${language === 'js' ? 'node' : language === 'go' ? 'go run' : language} ${file}`)
      }
      if (text !== undefined) expect(output.trim()).toBe(text)
    })
  }
})
