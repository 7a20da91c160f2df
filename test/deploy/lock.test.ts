import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'

interface Locked {
  version: string
  integrity?: string
  resolved?: string
  license?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  os?: string[]
}

const lock = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8'))
const { '': _root, ...packages } = lock.packages as Record<string, Locked>

it('every package that is installed is the one whose digest the lock file holds', () => {
  expect(Object.keys(packages).length).toBeGreaterThan(300)
  // Of binaries for systems that the lock file was not made on, npm takes the version alone.
  const isOurs = (name: string) => /linux-x64(-gnu)?$/.test(name)
  for (const [name, { integrity, optional, os, resolved }] of Object.entries(packages)) {
    const isForeign = optional === true && os !== undefined && !isOurs(name)
    if (!isForeign) expect(integrity, name).toMatch(/^sha512-/)
    // No package comes from elsewhere than the registry that npm is set to.
    if (resolved !== undefined) expect(resolved, name).toMatch(/^https:\/\/registry\.npmjs\.org\//)
  }
})

it('every package that is shipped may be used in a product that is not open', () => {
  const permissive = ['MIT', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'BlueOak-1.0.0', 'Unlicense', '0BSD']
  const shipped = Object.entries(packages).filter(
    ([, { dev, devOptional, optional }]) => !dev && !devOptional && !optional,
  )
  expect(shipped.length).toBeGreaterThan(80)
  for (const [name, { license }] of shipped) expect(permissive, name).toContain(license)
})
