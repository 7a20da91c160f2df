// Fails on a regular expression whose time grows faster than its input, as `recheck` decides. It checks the literals of the
// product and of the examples, the expressions that modules build, and the patterns of schemas.
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import recheck from 'recheck'
import ts from 'typescript'

/** Files that build expressions in functions: a call that builds one, or the reason why none is checked. */
const builtWhenCalled = {
  'src/cli/options.ts': ({ parseId }) => parseId('id'),
  'src/http/notFound.ts': 'The parts are the paths of the routes; a wildcard is at the end.',
  'src/http/textReader.ts': 'The patterns of the schemas are checked.',
  'src/writer/retention/removedSums.ts': ({ removedSumsCheck }) => removedSumsCheck('sums_by_day', 0, true),
}
/** The longest time of one expression, milliseconds. An expression with a larger automaton is attacked with random texts instead. */
const limits = { timeout: 10_000, maxNFASize: 2_000 }
/** Fewer expressions mean that the search does not find them any more. */
const expressionsMin = 150

if (isMainThread) await checkAll(await findExpressions())
else {
  // The other implementations need a program of the operating system, or Java.
  process.env.RECHECK_SYNC_BACKEND = 'pure'
  parentPort.on('message', ({ source, flags }) => {
    const { status, complexity, error } = recheck.checkSync(source, flags, limits)
    parentPort.postMessage(status === 'safe' ? undefined : (complexity?.summary ?? error?.kind ?? status))
  })
}

/** Checks expressions in all cores. Ends the process with 1 if one is not safe. */
async function checkAll(expressions) {
  let isFailed = expressions.length < expressionsMin
  if (isFailed) console.error(`Found ${expressions.length} expressions; expected at least ${expressionsMin}.`)
  const check = async () => {
    const worker = new Worker(new URL(import.meta.url))
    for (let next = expressions.pop(); next; next = expressions.pop()) {
      worker.postMessage(next)
      const [fault] = await once(worker, 'message')
      if (fault === undefined) continue
      console.error(`${next.place}: /${next.source}/${next.flags}: ${fault}`)
      isFailed = true
    }
    await worker.terminate()
  }
  await Promise.all(Array.from({ length: availableParallelism() }, check))
  if (isFailed) process.exit(1)
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
