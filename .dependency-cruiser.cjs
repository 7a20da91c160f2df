// Who may import whom. `npm run check` holds it; `.dependency-canary.mjs` holds that this saw the code at all.
const rooms = 'reports|stats|clicks|conversions|search|metadata|events|usage|health'
const rule = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    rule('no-circles', 'Data flows one way.', {}, { circular: true }),
    rule(
      'schema-imports-nothing-of-ours',
      'The contract stands alone.',
      { path: '^schema/' },
      { path: '^(src|test|bench)/' },
    ),
    rule(
      'nothing-imports-tests',
      'Tests and loads look in from outside.',
      { path: '^(src|schema)/' },
      { path: '^(test|bench)/' },
    ),
    rule(
      'rooms-are-apart',
      'What two rooms need lives beside them, not in one of them.',
      { path: `^src/(${rooms})/` },
      { path: `^src/(${rooms})/`, pathNot: '^src/$1/' },
    ),
    rule(
      'rooms-know-no-app',
      'Rooms are given what they need.',
      { path: `^src/(${rooms}|sql|stores|time)/` },
      { path: '^src/(app\\.ts|main\\.ts|(gate|cli|import|demo|export|verify)/)' },
    ),
    rule(
      'sql-knows-stores-only',
      'SQL is text and typed values.',
      { path: '^src/sql/' },
      { path: '^src/', pathNot: '^src/(sql/|problem|stores/)' },
    ),
    rule(
      'fastify-stays-at-the-door',
      'Only app, gate, rooms’ routes and their type know the web framework.',
      { path: '^src/', pathNot: '^src/(app|room)\\.ts|^src/gate/|/routes\\.ts$' },
      { path: 'node_modules/(fastify|@fastify)/', dependencyTypesNot: ['type-only'] },
    ),
    rule(
      'drivers-stay-with-the-stores',
      'One caller of each driver.',
      { path: '^src/', pathNot: '^src/stores/|^src/sql/rows\\.ts' },
      { path: 'node_modules/(@clickhouse/client|postgres|ioredis)/', dependencyTypesNot: ['type-only'] },
    ),
    rule('main-is-the-top', 'Nothing imports the command.', {}, { path: '^src/main\\.ts$' }),
    rule(
      'only-what-is-declared',
      'Every package stands in package.json.',
      { path: '^(src|schema)/' },
      {
        dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'npm-dev'],
      },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
}
