import { existsSync, statfsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// The stores of tests lie in memory where there is room: they are thrown away, and what a test says of a process that dies
// holds there too. On disks half of the suite's time is flushes. `TMPDIR` has them elsewhere.
const memory = '/dev/shm'
const roomBytes = 4 * 1024 ** 3
if (process.env.TMPDIR === undefined && freeBytes(memory) > roomBytes) process.env.TMPDIR = memory

/** They take half a minute each; begun last, they would be waited for alone. */
const long =
  /test\/(docs\/commands|stores\/embedded\/(attach|recovery)|api\/events\/faults|faults\/crashes\/crashes|writer\/(kill|repair\/(recovery|verify))|properties\/consistency\/consistency)\./

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((one, other) => Number(long.test(other.moduleId)) - Number(long.test(one.moduleId)))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/kit/template.ts'],
    // Each file has engines of its own, and waits for processes a good part of its time: three at a time fill two cores.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    // Files of one worker share its process, and what they import is read once: a sixth less time. Whatever a file leaves
    // behind in the process, the next one meets.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // What is waited for comes in milliseconds; how long a busy machine takes is no test.
    expect: { poll: { timeout: 20_000 } },
  },
})

function freeBytes(folder: string): number {
  if (!existsSync(folder)) return 0
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}
