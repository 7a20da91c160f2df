// @module-tag all

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isLater, packageRoot, version } from '../../src/package.ts'

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  ...readdirSync(join(packageRoot, 'src/packages')).map((name) => `src/packages/${name}/README.md`),
  ...['docs', 'docs/tools'].flatMap((folder) =>
    readdirSync(join(packageRoot, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}/${name}`),
  ),
]

describe.each(pages)('%s', (page) => {
  it('links only to files and headings that exist', () => {
    const targets = [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
    for (const target of targets.filter((link) => !/^https?:/.test(link))) {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      expect(existsSync(join(packageRoot, file)), target).toBe(true)
      if (anchor) expect(anchorsOf(file), target).toContain(anchor)
    }
  })

  it('names only files of the repository that exist', () => {
    const named = textOf(page).matchAll(
      /(?<![\w/.-])(?:src|schema|test|bench|clickhouse|postgres|docs|deploy)\/[\w./-]*[A-Za-z0-9]/g,
    )
    expect([...named].map(([path]) => path).filter((path) => !isInRepository(path))).toEqual([])
  })
})

it('docs/CHANGELOG.md has the version of package.json as its newest release, below at most one that is not released', () => {
  const headings = [...textOf('docs/CHANGELOG.md').matchAll(/^## \[(\S+)\] - (Unreleased|\d{4}-\d\d-\d\d)$/gm)]
  const [first, second] = headings.map(([, name = '', date]) => ({ name, isReleased: date !== 'Unreleased' }))
  expect(first?.isReleased ? first.name : second?.name).toBe(version)
  if (!first?.isReleased) expect([isLater(`${first?.name}`, version), second?.isReleased]).toEqual([true, true])
})

/** Whether a path names a file or a folder, or is the beginning of a file name, as in `npx vitest run test/a/file`. */
function isInRepository(path: string): boolean {
  // The environment of Docker Compose and the downloads of benches are made by their users.
  if (/\/\.\w+$/.test(path)) return true
  const folder = join(packageRoot, dirname(path))
  return (
    existsSync(folder) &&
    readdirSync(folder).some((name) => name === basename(path) || name.startsWith(`${basename(path)}.`))
  )
}

function textOf(page: string): string {
  return readFileSync(join(packageRoot, page), 'utf8')
}

/** The anchors of a page: those that GitHub makes of headings, and explicit ones. */
function anchorsOf(file: string): string[] {
  const text = textOf(file).replace(/```[\s\S]*?```/g, '')
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  )
  return [...headings, ...[...text.matchAll(/<a id="(\w+)">/g)].map(([, id = '']) => id)]
}
