import { existsSync, readdirSync, readFileSync, statfsSync } from 'node:fs'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { randomCasesFactor } from './test/kit/randomCases.ts'
import { SlowestFiles } from './test/kit/slowestFiles.ts'

// Test stores are temporary, so they are put in memory when enough is free: on a disk, half of the suite's time is flushes.
// Tests that kill processes are valid there too, because the files outlive the process. TMPDIR overrides the folder.
const memoryFolder = '/dev/shm'
const freeBytesMin = 4 * 1024 ** 3
if (process.env.TMPDIR === undefined && freeBytes(memoryFolder) > freeBytesMin) process.env.TMPDIR = memoryFolder

// Random cases are the same ones in every run of the suite, so that a failure is repeatable and has its cause in the commit.
process.env.TRIBUTARY_TEST_SEED ??= `${randomCasesFactor === 1 ? 20261121 : Date.now() % 2 ** 31}`

/**
 * The largest files start first, but before them the one that mostly waits: at the end the cores would wait with it. Files of a
 * project follow each other, since a process that gets a file of another project ends.
 */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isWaiting = ({ moduleId }: TestSpecification) => moduleId.endsWith('/crashes.test.ts')
    const sorted = await super.sort(files)
    const ordered = [...sorted.filter(isWaiting), ...sorted.filter((file) => !isWaiting(file))]
    const projects = [...new Set(ordered.map(({ project }) => project))]
    return projects.flatMap((project) => ordered.filter((file) => file.project === project))
  }
}

const everyFile = 'test/**/*.test.ts'
/** The server, and the products that use it from outside. */
const folders = {
  packages: 'test/packages/**/*.test.ts',
  explore: 'test/explore/**/*.test.ts',
  docs: 'test/{docs,examples}/**/*.test.ts',
}

// vitest would load every file to find its tags. For `--tags-filter='all && !long'` it loads the files that name `all`, without
// the files of `long`.
const filter = process.argv.find((word) => word.startsWith('--tags-filter='))?.split('=')[1] ?? ''
const tagsOf = (words: RegExp) => [...filter.matchAll(words)].map(([tag]) => tag).join('|')
const required = tagsOf(/(?<![!\w])\w+/g)
const isRequired = new RegExp(required && `(^// @module-tag |tags: ')(${required})\\b`, 'm')
const isExcluded = new RegExp(`^// @module-tag (${tagsOf(/(?<=!)\w+/g)})$`, 'm')
const excludedFiles = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => ({ path: `test/${name}`, text: readFileSync(`test/${name}`, 'utf8') }))
  .filter(({ text }) => isExcluded.test(text) || !isRequired.test(text))
  .map(({ path }) => path)

/** Measuring the CPU time of a file reads all of /proc twice. */
const showsSlowest = process.env.TRIBUTARY_TEST_SLOWEST !== undefined

/** What the files of every project have. */
const shared = {
  exclude: excludedFiles,
  // A test has them as an option, a file as comments in its first lines: `// @module-tag long`.
  tags: [
    {
      name: 'all',
      description: 'Not in `npm test`: commands, packages, pages, documents, and programs other than Node.js.',
    },
    { name: 'long', description: 'Only in `npm run test:long`: kills, restores, packages and other slow cases.' },
    {
      name: 'node',
      description: 'Again on the Node.js of the image: engines, sockets, streams and child processes.',
    },
    { name: 'registry', description: 'Also in `.ci/run`: installs the newest packages that package.json allows.' },
    { name: 'replicas', description: "Also in `.ci/run`: replicas of ClickHouse, by Debian's ZooKeeper." },
    { name: 'postgres', description: 'Again on a PostgreSQL 15 server: statements of Postgres and their errors.' },
  ],
  setupFiles: ['test/kit/seed.ts', ...(showsSlowest ? ['test/kit/cpuTime.ts'] : [])],
  // Files of one worker share its process and load modules once, which saves a sixth of the time.
  // TRAP: global state that a file changes is seen by the next file.
  isolate: false,
  // Only a test that hangs reaches these, also where another build uses the same cores.
  testTimeout: 300_000 * randomCasesFactor,
  hookTimeout: 300_000,
  // Conditions usually hold within milliseconds; the timeout only allows for a busy machine.
  expect: { poll: { timeout: 60_000 } },
} satisfies TestProjectInlineConfiguration['test']

const project = (name: string, include: string, exclude: string[] = []) => ({
  test: { ...shared, name, include: [include], exclude: [...excludedFiles, ...exclude] },
})
const projects = [
  project('server', everyFile, Object.values(folders)),
  ...Object.entries(folders).map(([name, folder]) => project(name, folder)),
]

export default defineConfig({
  test: {
    ...shared,
    include: [everyFile],
    // Without `--project` all files are one project: projects share neither processes nor engines.
    ...(process.argv.some((word) => word.startsWith('--project')) && { projects }),
    globalSetup: ['test/kit/template.ts'],
    reporters: ['default', ...(showsSlowest ? [new SlowestFiles()] : [])],
    // Test files start their own engines and often wait for them: four workers fill two cores.
    maxWorkers: 4,
    sequence: { sequencer: WaitingFirst },
  },
})

function freeBytes(folder: string): number {
  if (!existsSync(folder)) return 0
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
