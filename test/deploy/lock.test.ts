// @module-tag all

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '../../src/package.ts'

interface Locked {
  version: string
  integrity?: string
  resolved?: string
  link?: boolean
  license?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  os?: string[]
}

const lock = JSON.parse(readFileSync(join(packageRoot, 'package-lock.json'), 'utf8'))
const { '': _root, ...all } = lock.packages as Record<string, Locked>
const packages = Object.fromEntries(
  Object.entries(all).filter(([name, { link }]) => !link && name.includes('node_modules/')),
)

it('the lock file has the digest of every installed package', () => {
  expect(Object.keys(packages).length).toBeGreaterThan(300)
  // npm records only the version of binaries for other systems than the one that wrote the lock file.
  const isOurs = (name: string) => /linux-x64(-gnu)?$/.test(name)
  for (const [name, { integrity, optional, os, resolved }] of Object.entries(packages)) {
    const isForeign = optional === true && os !== undefined && !isOurs(name)
    if (!isForeign) expect(integrity, name).toMatch(/^sha512-/)
    // npm replaces this host with the host of the configured registry; other hosts stay.
    if (resolved !== undefined) expect(resolved, name).toMatch(/^https:\/\/registry\.npmjs\.org\//)
  }
})

it('an installation without the lock file has the tested version of each package whose internals the program uses', () => {
  const { dependencies, optionalDependencies } = lock.packages[''] as Record<string, Record<string, string>>
  const { postgres, 'hyparquet-writer': hyparquetWriter } = dependencies ?? {}
  const specifiers = { ...optionalDependencies, postgres, 'hyparquet-writer': hyparquetWriter }
  expect(Object.keys(specifiers)).toHaveLength(5)
  for (const [name, specifier] of Object.entries(specifiers))
    expect([name, specifier]).toEqual([name, packages[`node_modules/${name}`]?.version])

  // The package that writes a copy in DuckDB replaces its decoder of texts.
  const duckdb = packages['node_modules/@duckdb/node-api']?.version
  expect(lock.packages['src/packages/sync'].peerDependencies['@duckdb/node-api']).toBe(duckdb)
  for (const path of [
    'src/packages/sync/duckdb/database.ts',
    'src/packages/sync/README.md',
    'src/http/docs/guides/intoDuckdb.md',
  ])
    expect(readFileSync(join(packageRoot, path), 'utf8'), path).toContain(`@duckdb/node-api@${duckdb}`)
})

it('every shipped package has a license that permits use in proprietary products', () => {
  const permissive = 'MIT,(MIT OR CC0-1.0),Apache-2.0,BSD-2-Clause,BSD-3-Clause,ISC,BlueOak-1.0.0,Unlicense,0BSD'
  // The pages have three packages, which their builds include.
  const shipped = Object.entries(packages).filter(
    ([name, { dev, devOptional, optional }]) =>
      (!dev && !devOptional && !optional) || /^node_modules\/(preact|uplot|@scalar\/fastify-api-reference)$/.test(name),
  )
  expect(shipped.length).toBeGreaterThan(80)
  for (const [name, { license }] of shipped) expect(permissive.split(','), name).toContain(license)
})
