// @module-tag long

import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { packageRoot } from '../../src/package.ts'
import { isInstalled } from '../kit/isInstalled.ts'

const user = '1234:1234'
/** Runs `$2` as a user in the root folder `$0`. Its mounts end with this shell. */
const inRoot = `mount -t proc proc "$0/proc" && mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm" &&
  exec chroot --userspec=${user} "$0" env -i "$@"`
const notCopied = ['.git', 'node_modules', 'dist', 'data']

it.skipIf(process.getuid?.() !== 0 || !isInstalled('debootstrap'))(
  'npm cit passes as a user ann, in a folder with a space, on a Debian with nothing but Node.js and npm',
  { timeout: 3 * 3_600_000 },
  () => {
    // Not in memory: the packages take a gigabyte.
    const root = mkdtempSync('/tmp/tributary-bare-')
    onTestFinished(() => rmSync(root, { recursive: true }))
    const run = (program: string, ...words: string[]) => execFileSync(program, words, { encoding: 'utf8' }).trim()
    run('debootstrap', '--variant=minbase', 'bookworm', root)
    chmodSync(root, 0o755)

    copyFileSync(process.execPath, join(root, 'usr/local/bin/node'))
    cpSync(join(run('npm', 'root', '--global'), 'npm'), join(root, 'usr/local/lib/npm'), { recursive: true })
    const npm = '#!/bin/sh\nexec node /usr/local/lib/npm/bin/npm-cli.js "$@"\n'
    appendFileSync(join(root, 'usr/local/bin/npm'), npm, { mode: 0o755 })
    appendFileSync(join(root, 'etc/passwd'), `ann:x:${user}::/home/ann:/bin/sh\n`)
    const clone = join(root, 'home/ann/a clone')
    mkdirSync(clone, { recursive: true })
    cpSync(packageRoot, clone, { recursive: true, filter: (path) => !notCopied.includes(basename(path)) })
    run('chown', '-R', user, join(root, 'home/ann'))

    // How npm reaches its registry here.
    for (const name of ['resolv.conf', 'hosts']) copyFileSync(`/etc/${name}`, join(root, 'etc', name))
    const { NODE_EXTRA_CA_CERTS: authorities } = process.env
    if (authorities) copyFileSync(authorities, join(root, 'etc/authorities'))
    const ofProxy = Object.entries(process.env).filter(([name]) => /^(https?|no)_proxy$/i.test(name))
    const environment = Object.entries({
      ...Object.fromEntries(ofProxy),
      ...(authorities && { NODE_EXTRA_CA_CERTS: '/etc/authorities', npm_config_cafile: '/etc/authorities' }),
      npm_config_registry: run('npm', 'config', 'get', 'registry'),
      HOME: '/home/ann',
      PATH: '/usr/local/bin:/usr/bin:/bin',
    }).map(([name, value]) => `${name}=${value}`)
    const cit = ['sh', '-c', 'cd "$HOME/a clone" && npm cit --no-audit --no-fund']
    expect(run('unshare', '--mount', 'sh', '-c', inRoot, root, ...environment, ...cit)).toMatch(/Tests .* passed/)
  },
)
