// @module-tag long
// @module-tag registry

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { commit, version } from '../../src/package.ts'
import { freePort } from '../kit/serverProcess.ts'
import { useEmptyProject } from './emptyProject.ts'

const project = useEmptyProject(['tributary'])

it('tributary, installed from its tarball in an empty folder names the optional packages that a database without a server needs', async () => {
  await project.install('--omit=optional', `./tributary-${version}.tgz`)
  const { stdout } = await project.run('tributary', ['--version'])
  expect(stdout).toMatch(new RegExp(`^tributary ${version} \\(commit ${commit}\\)\n`))
  expect(stdout).toContain('embedded ClickHouse: chdb is not installed\nembedded Postgres: @electric-sql')
  const line =
    /^error: the optional packages chdb@\S+ and ffi-rs@\S+ are not installed; set CLICKHOUSE_URL or install them\.\n$/
  await expect(project.run('tributary', ['serve'])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(line),
  })
})

it('tributary, installed from its tarball in an empty folder serves the demo, its pages and a first report with these packages', async () => {
  await project.install(`./tributary-${version}.tgz`)
  const env = { ...project.environment(), PORT: `${await freePort()}`, LOG_LEVEL: 'warn' }
  const words = ['tributary', 'serve', '--demo', '2000', '--json']
  const server = spawn('npx', words, {
    cwd: project.folder(),
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(server, 'exit')
  try {
    const [line] = await Promise.race([
      once(server.stdout, 'data'),
      exited.then(async () => [await text(server.stderr)]),
    ])
    const { url, docs, explore, key, command } = JSON.parse(`${line}`)
    expect(command).toContain(project.folder('node_modules/tributary'))
    const read = async (address: string) => {
      const response = await fetch(address, { headers: { authorization: `ApiKey ${key}` } })
      expect([address, response.status]).toEqual([address, 200])
      return response
    }
    for (const page of [docs, explore]) {
      const html = await (await read(page)).text()
      for (const [, file = ''] of html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"#]+)"/g))
        await (await read(new URL(file, page).href)).arrayBuffer()
    }
    expect(await (await read(`${docs}/json`)).json()).toMatchObject({ info: { version } })
    const report = await (await read(`${url}/api/v1/reports?group_by=country&days=30`)).json()
    const overview = await (await read(`${url}/api/v1/stats/overview?days=30`)).json()
    const { data, totals } = report as { data: object[]; totals: { clicks: number } }
    expect(data.length).toBeGreaterThan(1)
    expect(overview).toMatchObject({ totals: { clicks: totals.clicks } })
  } finally {
    // The group has npx, its shell and the server.
    if (server.pid && server.exitCode === null) process.kill(-server.pid)
    await exited
  }
})
