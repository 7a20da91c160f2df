import { existsSync, statfsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

// The stores of tests lie in memory where there is room: they are thrown away, and what a test says of a process that dies
// holds there too. On disks half of the suite's time is flushes. `TMPDIR` has them elsewhere.
const memory = '/dev/shm'
const roomBytes = 4 * 1024 ** 3
if (process.env.TMPDIR === undefined && freeBytes(memory) > roomBytes) process.env.TMPDIR = memory

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/kit/template.ts'],
    // Each file has engines of its own: two at a time fill this kind of machine.
    maxWorkers: 2,
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
