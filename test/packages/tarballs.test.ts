// @module-tag all

import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { packageRoot, version } from '../../src/package.ts'
import { useEmptyProject } from './emptyProject.ts'

const names = ['tributary', 'tributary-client', 'tributary-mcp', 'tributary-sync']
const project = useEmptyProject(names)

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
      entryPoints: files.map((file) => unpacked('package', file)),
      outdir: unpacked('out'),
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      write: false,
      metafile: true,
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

async function filesOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
}
