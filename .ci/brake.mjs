// Prints how large the project is, by folder. `npm run check` fails if it is larger than brake.json allows.
// code: lines of src and schema with a token of the program; blank lines, comments and imports do not count.
// tests: all lines of the programs in test. words: all words of README, CONTRIBUTING, docs and bench/README.
// The numbers may be lowered at any time. A commit that raises one changes nothing else, and says which feature costs it.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ts from 'typescript'

const limits = JSON.parse(readFileSync(new URL('brake.json', import.meta.url), 'utf8'))

const measured = {
  code: { paths: ['src', 'schema'], countOf: linesOfCode },
  tests: {
    paths: ['test'],
    countOf: (path, text) => (/\.(ts|tsx|mjs)$/.test(path) ? text.split('\n').length - 1 : undefined),
  },
  words: {
    paths: ['README.md', 'CONTRIBUTING.md', 'docs', 'bench/README.md'],
    countOf: (path, text) => (path.endsWith('.md') ? text.split(/\s+/).filter(Boolean).length : undefined),
  },
}

for (const [name, { paths, countOf }] of Object.entries(measured)) {
  const counts = new Map()
  for (const path of filesOf(paths)) {
    const count = countOf(path, readText(path))
    if (count !== undefined) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + count)
  }
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  for (const [folder, count] of counts) console.log(`${String(count).padStart(9)}  ${folder}`)
  console.log(`${String(total).padStart(9)} of ${limits[name]} ${name}\n`)
  if (total > limits[name]) {
    console.error(
      `The project has ${total} ${name === 'words' ? 'words' : `lines of ${name}`}; .ci/brake.json allows ${limits[name]}. Remove some.`,
    )
    process.exitCode = 1
  }
}

function filesOf(paths) {
  const options = ['ls-files', '--cached', '--others', '--exclude-standard', ...paths]
  return execFileSync('git', options, { encoding: 'utf8' }).trim().split('\n')
}

/** @returns the folder below src, test or docs; `src/packages` has a folder for each package */
function folderOf(path) {
  const folders = path.split('/').slice(0, -1)
  return folders.slice(0, folders[1] === 'packages' ? 3 : 2).join('/') || '.'
}

/** @returns undefined if the file is no code */
function linesOfCode(path, text) {
  if (/\.(ts|tsx|js)$/.test(path)) return linesWithTokens(path, text)
  if (/\.css$/.test(path)) return withoutBlank(text.replace(/\/\*.*?\*\//gs, '').split('\n'))
  return undefined
}

/** @returns an empty text for a file that was deleted, and whose deletion is not committed yet */
function readText(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return ''
    throw error
  }
}

function withoutBlank(lines) {
  return lines.filter((line) => line.trim() !== '').length
}

function linesWithTokens(path, text) {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const numbers = new Set()
  const lineAt = (position) => file.getLineAndCharacterOfPosition(position).line
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isJSDoc(node)) return
    const children = node.getChildren(file)
    for (const child of children) visit(child)
    if (children.length > 0 || node.getWidth(file) === 0) return
    // A template or a text between tags has several lines.
    for (let line = lineAt(node.getStart(file)); line <= lineAt(node.getEnd()); line += 1) numbers.add(line)
  }
  visit(file)
  const lines = text.split('\n')
  return withoutBlank([...numbers].map((number) => lines[number]))
}
