import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { packageRoot } from '../../src/package.ts'
import { type HttpServer, openHttpServer } from './httpServer.ts'

/** An npm registry on loopback with the packages of node_modules, so that a test installs without a network. */
export async function openNpmRegistry(): Promise<HttpServer> {
  const lock = JSON.parse(await readFile(join(packageRoot, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; link?: true }>
  }
  // npm applies them only where this repository is the project.
  const { overrides } = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8')) as {
    overrides: Record<string, Record<string, string>>
  }
  const installed = Object.entries(lock.packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
  const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)

  const registry = await openHttpServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '').slice(1)
    if (path.startsWith('tarballs/')) {
      const folder = join(packageRoot, path.slice('tarballs/'.length))
      // npm ignores the name of the first folder in a tarball.
      const words = ['-c', '-C', dirname(folder), basename(folder)]
      spawn('tar', words, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout.pipe(response)
      return
    }
    const versions: Record<string, object> = {}
    for (const [folder, { version }] of installed.filter(([folder]) => nameOf(folder) === path)) {
      const manifest = await readFile(join(packageRoot, folder, 'package.json'), 'utf8').catch(() => undefined)
      // Optional packages of other platforms are not installed.
      if (manifest === undefined) continue
      const fields = JSON.parse(manifest)
      const dependencies = { ...fields.dependencies, ...overrides[path] }
      versions[version] = { ...fields, dependencies, dist: { tarball: `${registry.url}/tarballs/${folder}` } }
    }
    const latest = Object.keys(versions).at(-1)
    response.writeHead(latest ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ name: path, versions, 'dist-tags': { latest } }))
  })
  return registry
}
