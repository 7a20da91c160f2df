// Fails on a regular expression whose time grows faster than its input, as `scslre` decides. It checks the literals of the
// product and of the examples, the expressions that modules build, and the patterns of schemas.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { analyse } from 'scslre'
import ts from 'typescript'

/** Files that build expressions in functions: a call that builds one, or the reason why none is checked. */
const builtWhenCalled = {
  'src/cli/options.ts': ({ parseId }) => parseId('id'),
  'src/import/readers/texts.ts':
    'rowReader.ts builds the patterns of ids too, and currencies and countries have three letters at most.',
  'src/http/notFound.ts': 'The parts are the paths of the routes; a wildcard is at the end.',
  'schema/textReader.ts': 'The patterns of the schemas are checked.',
  'src/writer/retention/removedSums.ts': ({ removedSumsCheck }) => removedSumsCheck('sums_by_day', 0, true),
}
/** Fewer expressions mean that the search does not find them any more. */
const expressionsMin = 150

const expressions = await findExpressions()
if (expressions.length < expressionsMin) {
  console.error(`Found ${expressions.length} expressions; expected at least ${expressionsMin}.`)
  process.exitCode = 1
}
for (const { place, source, flags } of expressions) {
  // Move: the search begins again at each character.
  const { reports } = analyse({ source, flags }, { reportTypes: { Move: true } })
  if (reports.length === 0) continue
  console.error(`${place}: /${source}/${flags} takes ${reports[0].exponential ? 'exponential' : 'quadratic'} time.`)
  process.exitCode = 1
}

/** @returns the source, the flags and the place of each expression, each once */
async function findExpressions() {
  const found = new Map()
  const add = (place, source, flags = '') => found.set(`/${source}/${flags}`, { place, source, flags })
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'src', 'schema', 'docs'], {
    encoding: 'utf8',
  })
  for (const file of files.split('\n').filter((name) => /\.(tsx?|m?js)$/.test(name))) {
    const constructors = addLiterals(file, add)
    if (constructors > 0) await addBuilt(file, constructors, add)
  }
  addPatterns(JSON.parse(readFileSync('test/golden/openapi.json', 'utf8')), 'test/golden/openapi.json', add)
  return [...found.values()]
}

/** Adds the literals of a file, and the literal patterns of its schemas. @returns how many expressions it builds */
function addLiterals(file, add) {
  const parsed = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)
  let constructors = 0
  const visit = (node) => {
    const place = () => `${file}:${parsed.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      add(place(), node.text.slice(1, end), node.text.slice(end + 1))
    } else if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp') {
      constructors += 1
    } else if (ts.isPropertyAssignment(node) && node.name.getText() === 'pattern') {
      if (ts.isStringLiteralLike(node.initializer)) add(place(), node.initializer.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(parsed)
  return constructors
}

/** Adds the expressions that a module builds when it is loaded or called. */
async function addBuilt(file, constructors, add) {
  const how = builtWhenCalled[file]
  if (typeof how === 'string') return
  let built = 0
  const original = globalThis.RegExp
  globalThis.RegExp = new Proxy(original, {
    construct(target, [source, flags]) {
      if (new Error().stack.includes(`dist/${file.replace(/tsx?$/, 'js')}`)) {
        built += 1
        add(file, `${source}`, flags)
      }
      return new target(source, flags)
    },
  })
  const module = await import(`../dist/${file.replace(/tsx?$/, 'js')}`)
  how?.(module)
  globalThis.RegExp = original
  if (built >= constructors) return
  console.error(
    `${file}: builds ${constructors} expressions, of which ${built} are seen: add a call to .ci/checkExpressions.mjs.`,
  )
  process.exitCode = 1
}

/** Adds every `pattern` of a schema. */
function addPatterns(schema, place, add) {
  for (const [name, value] of Object.entries(schema ?? {})) {
    if (name === 'pattern' && typeof value === 'string') add(place, value, 'u')
    else if (typeof value === 'object') addPatterns(value, place, add)
  }
}
