// @module-tag long

import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { Shell } from '../docs/shell.ts'
import { type Block, blocksOf } from '../docs/shellBlocks.ts'
import { canReplicate } from '../kit/canReplicate.ts'
import { useFolder, useOpened } from '../kit/fixtures.ts'
import { openHttpServer } from '../kit/httpServer.ts'
import { startReplicas } from '../kit/replicas.ts'
import { freePort } from '../kit/serverProcess.ts'
import { createTestEnvironment } from '../kit/stores.ts'

const folder = useFolder()

function sectionOf(page: string, heading: string, language: 'sh' | 'bash'): Block[] {
  const blocks = blocksOf(page, [language]).filter((block) => block.section === heading)
  expect(blocks.length).toBeGreaterThan(0)
  return blocks
}

describe.runIf(canReplicate())('the commands of the documentation', () => {
  const replicas = useOpened(() => startReplicas())
  const stores = useOpened(async () => {
    const { environment, remove } = await createTestEnvironment()
    return { environment, close: remove }
  })
  /** `ssh two systemctl stop clickhouse-server` requests `/stop`. */
  const control = useOpened(() =>
    openHttpServer(async (request, response) => {
      const [, two] = replicas.nodes
      await (request.url === '/stop' ? two.kill() : two.start())
      response.end()
    }),
  )

  it('make two servers a pair, show an outage, and replace a lost replica', async () => {
    const [one, two] = replicas.nodes
    for (const name of ['dist', 'docs', 'clickhouse', 'postgres', 'node_modules', 'package.json'])
      symlinkSync(join(packageRoot, name), folder(name))
    const port = await freePort()
    const shell = new Shell(folder(), {
      PATH: process.env.PATH ?? '',
      DATA_DIR: stores.environment.DATA_DIR ?? '',
      LOG_LEVEL: 'warn',
      ONE: `127.0.0.1:${one.port}`,
      TWO: `127.0.0.1:${two.port}`,
      OWNER_PASSWORD: 'tributary_owner',
      WRITER_PASSWORD: 'tributary_writer',
      READER_PASSWORD: 'tributary_reader',
      ONE_ADMIN_URL: `http://admin:admin@127.0.0.1:${one.port}/`,
    })
    try {
      await shell.paste('tributary() { node dist/src/main.js "$@"; }')
      await shell.paste(`ssh() { curl -sf -X POST ${control.url}/$3; }`)
      const run = async (blocks: readonly Block[]) => {
        for (const { source, commands, text } of blocks) {
          const printed = await shell.paste(commands.join('\n').replaceAll('3001', `${port}`))
          if (text !== undefined) expect(printed.trim(), source).toBe(text.trim())
        }
      }
      await run(sectionOf('docs/scaling.md', 'A replica', 'sh'))
      await two.loseDisk()
      await run(sectionOf('docs/restore.md', 'A lost replica', 'bash'))
    } finally {
      await shell.paste('kill -9 $(cat one.pid) 2> /dev/null || true').catch(() => {})
      shell.close()
    }
  })
})
