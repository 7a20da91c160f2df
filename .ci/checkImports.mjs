// Which folder may import which; `npm run check` runs it with dependency-cruiser. It fails too
// - when it saw too few modules of the product or too few imports. TRAP: dependency-cruiser also reports no violations when it
//   cannot read the modules, as with an unsupported TypeScript;
// - when the files of a folder import a subfolder that imports files of this folder. Files of src itself have rules.
import { dirname } from 'node:path'
import { cruise, format } from 'dependency-cruiser'
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config'

const modulesMin = 25

const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** What each folder of src/ may import, besides itself, src/expectedError.ts, src/problem.ts and schema/. */
const layers = {
  settings: [],
  stores: ['package', 'settings'],
  accounts: ['stores'],
  query: ['stores'],
  rows: ['query', 'stores'],
  http: ['accounts', 'rows', 'query', 'stores', 'settings', 'package'],
  events: ['query', 'stores', 'writer/tables'],
  api: ['http', 'events', 'accounts', 'rows', 'query', 'stores', 'package', 'writer/tables'],
  writer: ['query', 'stores'],
  import: ['writer', 'accounts', 'stores', 'query'],
  feed: ['http', 'import', 'writer', 'accounts', 'query', 'stores'],
  export: ['import/parsers/fileFormat', 'import/resourceNames', 'rows', 'query', 'stores', 'writer/tables'],
  'cli/demoData': ['import', 'accounts', 'stores'],
}

/** Folders that use the API from outside, and the packages that each may import: a page, and npm packages that stand alone. */
const outside = {
  explore: ['preact', 'uplot'],
  'packages/client': ['openapi-fetch'],
  'packages/mcp': ['commander'],
  'packages/sync': ['@aws-sdk/client-s3', '@duckdb/node-api', 'cli-progress', 'commander', 'hyparquet', 'postgres'],
}

const forbidden = [
  rule('no-module-cycles', 'Modules import each other in one direction.', {}, { circular: true }),
  {
    ...rule('no-folder-cycles', 'Folders import each other in one direction.', {}, { circular: true }),
    scope: 'folder',
  },
  rule(
    'schema-imports-typebox-only',
    'The contract imports nothing of the product.',
    { path: '^schema/' },
    { path: '^(src|test|bench)/' },
  ),
  rule(
    'product-imports-no-tests',
    'Tests and benches are never imported.',
    { path: '^(src|schema)/' },
    { path: '^(test|bench)/' },
  ),
  ...Object.entries(layers).map(([folder, below]) =>
    rule(
      `${folder}-imports-lower-layers`,
      `src/${folder} may import ${below.join(', ') || 'no other folder'}.`,
      { path: `^src/${folder}/` },
      { path: '^src/', pathNot: `^src/(expectedError\\.ts|problem\\.ts|(${[folder, ...below].join('|')})(/|\\.ts))` },
    ),
  ),
  rule(
    'api-resources-are-independent',
    'Resources never import each other; what two need belongs to a lower layer.',
    { path: '^src/api/([^/]+)/' },
    { path: '^src/api/([^/]+)/', pathNot: '^src/api/$1/' },
  ),
  rule(
    'only-routes-import-fastify',
    'Only app, http and routes use the web framework; types are free.',
    { path: '^src/', pathNot: '^src/app\\.ts|^src/http/|/routes\\.ts$' },
    { path: 'node_modules/(fastify|@fastify)/', dependencyTypesNot: ['type-only'] },
  ),
  rule(
    'only-stores-import-drivers',
    'Drivers have one caller; types are free.',
    { path: '^src/', pathNot: '^src/(stores|packages/sync)/' },
    { path: 'node_modules/(@clickhouse/client|postgres|ioredis)/', dependencyTypesNot: ['type-only'] },
  ),
  rule(
    'files-of-src-import-no-folder',
    'Files of src itself are below every folder, except main and app.',
    { path: '^src/[^/]+$', pathNot: '^src/(main|app)\\.ts$' },
    { path: '^src/[^/]+/' },
  ),
  rule(
    'app-is-below-cli',
    'The server is built without the command.',
    { path: '^src/app\\.ts$' },
    { path: '^src/cli/' },
  ),
  rule('main-is-the-entry-point', 'Nothing imports main.', {}, { path: '^src/main\\.ts$' }),
  rule(
    'only-declared-packages',
    'Every package is declared in package.json.',
    { path: '^(src|schema)/', pathNot: '^src/(packages|explore)/' },
    { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'] },
  ),
  ...Object.entries(outside).flatMap(([folder, packages]) => [
    rule(
      `${folder}-imports-the-client-only`,
      `src/${folder} uses the API from outside, with the client.`,
      { path: `^src/${folder}/` },
      { path: '^(src|schema)/', pathNot: `^src/(${folder}|packages/client)/` },
    ),
    rule(
      `${folder}-has-few-packages`,
      `src/${folder} may import ${packages.join(', ')}.`,
      { path: `^src/${folder}/` },
      { path: 'node_modules/', pathNot: `^node_modules/(@types/)?(${packages.join('|')})/` },
    ),
  ]),
  rule(
    'product-imports-nothing-from-outside',
    'The server serves the page as files, and the npm packages use its API.',
    { path: '^(src|schema)/', pathNot: '^src/(packages|explore)/' },
    { path: '^src/(packages|explore)/' },
  ),
]

const { output } = await cruise(
  ['src', 'schema'],
  {
    ruleSet: { forbidden },
    validate: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^src/packages/[^/]+/dist/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
  },
  { exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default', 'types'] },
  { tsConfig: extractTSConfig('tsconfig.json') },
)
const report = await format(output, { outputType: 'err' })
console.log(report.output)
if (report.exitCode !== 0) process.exit(1)

const ownModules = output.modules.filter(({ source }) => /^(src|schema)\//.test(source))
const imports = ownModules
  .flatMap(({ source, dependencies }) => dependencies.map(({ resolved }) => ({ from: source, to: resolved })))
  .filter(({ to }) => /^(src|schema)\//.test(to))
if (ownModules.length < modulesMin || imports.length < ownModules.length) {
  console.error(
    `dependency-cruiser saw ${ownModules.length} modules and ${imports.length} imports; expected at least ${modulesMin} modules and as many imports.`,
  )
  process.exit(1)
}

/** @returns the imports of files in a folder by files in one of its subfolders, or the reverse, by subfolder */
function importsBySubfolder(folderOf, otherOf) {
  const found = new Map()
  for (const one of imports) {
    const [folder, other] = [dirname(folderOf(one)), dirname(otherOf(one))]
    if (folder === 'src' || !other.startsWith(`${folder}/`)) continue
    const subfolder = `${folder}/${other.slice(folder.length + 1).split('/')[0]}`
    found.set(subfolder, `${one.from} imports ${one.to}`)
  }
  return found
}
const downwards = importsBySubfolder(
  ({ from }) => from,
  ({ to }) => to,
)
const upwards = importsBySubfolder(
  ({ to }) => to,
  ({ from }) => from,
)
const wrong = [...downwards.keys()].filter((subfolder) => upwards.has(subfolder))
for (const subfolder of wrong) {
  console.error(
    `${subfolder} and its folder import each other: ${downwards.get(subfolder)}, but ${upwards.get(subfolder)}.`,
  )
}
if (wrong.length > 0) process.exit(1)
console.log(`dependency-cruiser saw ${ownModules.length} modules and ${imports.length} imports.`)
