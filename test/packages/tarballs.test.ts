import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { commit, packageRoot, version } from '../../src/package.ts'
import { freePort } from '../kit/serverProcess.ts'
import { useEmptyProject } from './emptyProject.ts'

const names = ['tributary', 'tributary-client', 'tributary-mcp', 'tributary-sync']
const project = useEmptyProject(names)
const engines = ['chdb', '@electric-sql/pglite']

describe.each(names)('the tarball of %s', (name) => {
  const tarball = () => `./${name}-${version}.tgz`
  const unpacked = (...below: string[]) => project.folder('unpacked', name, ...below)
  const manifest = async () => JSON.parse(await readFile(unpacked('package/package.json'), 'utf8'))

  it('has no test, source or map, and less than 2 MB', async () => {
    await mkdir(unpacked(), { recursive: true })
    await project.run('tar', ['-xzf', tarball(), '-C', unpacked()])
    const files = await filesOf(unpacked('package'))
    expect(files).toContain('README.md')
    const unneeded = /(^|\/)(test|src\/packages|node_modules|\.[^/]*)(\/|$)|(?<!\.d)\.tsx?$|\.map$/
    expect(files.filter((file) => unneeded.test(file))).toEqual([])
    expect((await stat(project.folder(tarball()))).size).toBeLessThan(2_000_000)
    // A path of the machine that packed it.
    await expect(project.run('grep', ['-rlF', packageRoot, unpacked()])).rejects.toMatchObject({ code: 1 })
  })

  it('imports only its own files and the packages that it declares', async () => {
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = await manifest()
    const files = (await filesOf(unpacked('package'))).filter((file) => /^dist\/(?!docs\/|explore\/).*\.js$/.test(file))
    // It fails if a file is missing.
    const { metafile } = await build({
      ...{ entryPoints: files.map((file) => unpacked('package', file)), outdir: unpacked('out') },
      ...{ bundle: true, packages: 'external', platform: 'node', format: 'esm', write: false, metafile: true },
      logLevel: 'silent',
    })
    const imported = Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter((one) => one.external))
    const packages = new Set(imported.map(({ path }) => /^(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? ''))
    const declared = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    expect([...packages].filter((path) => !isBuiltin(path) && !declared.includes(path))).toEqual([])
  })

  it('has the version of this repository, also of the client that it depends on', async () => {
    const { version: packed, dependencies = {} } = await manifest()
    expect([packed, dependencies['tributary-client'] ?? version]).toEqual([version, version])
  })
})

describe('tributary, installed from its tarball in an empty folder', () => {
  it('names the optional packages that a database without a server needs', { tags: 'long' }, async () => {
    await project.install('--omit=optional', `./tributary-${version}.tgz`)
    const { stdout } = await project.run('tributary', ['--version'])
    expect(stdout).toMatch(new RegExp(`^tributary ${version} \\(commit ${commit}\\)\n`))
    expect(stdout).toContain('embedded ClickHouse: not installed\nembedded Postgres: not installed\n')
    const line = 'error: the optional packages chdb and ffi-rs are not installed; set CLICKHOUSE_URL or install them.\n'
    await expect(project.run('tributary', ['serve'])).rejects.toMatchObject({ code: 1, stderr: line })
  })

  it('serves the demo, its pages and a first report with these packages', { tags: 'long' }, async () => {
    await project.install(`./tributary-${version}.tgz`, ...engines, 'ffi-rs')
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
        for (const [, file = ''] of html.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"#]+)"/g)) {
          await (await read(new URL(file, page).href)).arrayBuffer()
        }
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
})

/** @returns the paths of the files of a folder, relative to it */
async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
}
