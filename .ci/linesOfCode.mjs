// Prints the lines of code of each folder of src and schema. `npm run check` fails if a folder has more lines than
// linesOfCode.json allows; a commit that raises a number there says why.
// A line of code is a line with a token of the program: blank lines, comments and imports do not count.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ts from 'typescript'

const limits = JSON.parse(readFileSync(new URL('linesOfCode.json', import.meta.url), 'utf8'))

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'src', 'schema'], {
  encoding: 'utf8',
})
const counts = new Map()
for (const path of tracked.trim().split('\n')) {
  const count = countOf(path)
  if (count !== undefined) counts.set(folderOf(path), (counts.get(folderOf(path)) ?? 0) + count)
}

const rows = [...counts].map(([folder, lines]) => ({ folder, lines, limit: limits[folder] }))
for (const { folder, lines, limit } of rows) console.log(`${String(lines).padStart(6)} of ${limit ?? 0}  ${folder}`)
console.log(`${String(rows.reduce((sum, { lines }) => sum + lines, 0)).padStart(6)} lines of code`)

const over = rows.filter(({ lines, limit }) => !(lines <= limit))
for (const { folder, lines, limit } of over) {
  console.error(
    limit === undefined
      ? `.ci/linesOfCode.json has no number for ${folder}, which has ${lines} lines of code.`
      : `${folder} has ${lines} lines of code, and .ci/linesOfCode.json allows ${limit}.`,
  )
}
const unknown = Object.keys(limits).filter((folder) => !counts.has(folder))
for (const folder of unknown) console.error(`.ci/linesOfCode.json names ${folder}, which has no code.`)
if (over.length > 0 || unknown.length > 0) process.exit(1)

/** @returns a folder of src or of src/packages, or `src` or `schema` for their own files */
function folderOf(path) {
  const [top, folder, inner] = path.split('/')
  if (top === 'schema' || !path.includes('/', 4)) return top
  return folder === 'packages' ? `${top}/${folder}/${inner}` : `${top}/${folder}`
}

/** @returns undefined if the file is no code; a file that was deleted and not yet committed has none */
function countOf(path) {
  const text = readText(path)
  if (text === undefined) return undefined
  if (/\.(ts|tsx|js)$/.test(path)) return linesWithTokens(path, text)
  if (/\.css$/.test(path)) return withoutBlank(text.replace(/\/\*.*?\*\//gs, '').split('\n'))
  return undefined
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
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
