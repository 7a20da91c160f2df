import { existsSync, statfsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { randomCasesFactor } from './test/kit/randomCases.ts'

// Test stores are temporary, so they are put in memory when enough is free: on a disk, half of the suite's time is flushes.
// Tests that kill processes are valid there too, because the files outlive the process. TMPDIR overrides the folder.
const memoryFolder = '/dev/shm'
const freeBytesMin = 4 * 1024 ** 3
if (process.env.TMPDIR === undefined && freeBytes(memoryFolder) > freeBytesMin) process.env.TMPDIR = memoryFolder

/** Files that take 15 s or more each. They start first, so that no worker runs one alone at the end. */
const slowFiles =
  /test\/(cli\/(erase|serve|accountExport)|export\/export|docs\/(commands|page)|properties\/(isolation|errors|consistency\/consistency|lifeOfData|movedAccount)|stores\/(cluster\/cluster|embedded\/connectEmbedded)|api\/(clicks\/pages|events\/faults|funnels\/funnels|search\/(model|starvation))|faults\/crashes\/crashes|writer\/(kill|unknownOutcome|erasure\/erasure|retention\/\w+|repair\/(recovery|rows))|packages\/sync\/(sync|lives\/lives))\./

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => Number(slowFiles.test(other.moduleId)) - Number(slowFiles.test(one.moduleId)))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/kit/template.ts'],
    setupFiles: ['test/kit/seed.ts'],
    // Test files start their own engines and often wait for them: four workers fill two cores.
    maxWorkers: 4,
    sequence: { sequencer: SlowestFirst },
    // Files of one worker share its process and load modules once, which saves a sixth of the time.
    // TRAP: global state that a file changes is seen by the next file.
    isolate: false,
    // Only a test that hangs reaches these, also where another build uses the same cores.
    testTimeout: 120_000 * randomCasesFactor,
    hookTimeout: 120_000,
    // Conditions usually hold within milliseconds; the timeout only allows for a busy machine.
    expect: { poll: { timeout: 60_000 } },
  },
})

function freeBytes(folder: string): number {
  if (!existsSync(folder)) return 0
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
