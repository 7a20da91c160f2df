import type { Reporter, TestModule } from 'vitest/node'

const shown = 20

/** Prints the test files that took most CPU time, which `cpuTime.ts` measures. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((file) => ({ name: file.relativeModuleId, seconds: (file.meta().cpuMs ?? 0) / 1000 }))
    const sum = files.reduce((seconds, file) => seconds + file.seconds, 0)
    console.log(`\nCPU time of tests, their programs and engines: ${sum.toFixed(0)} s. The slowest files:`)
    const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, shown)
    for (const { name, seconds } of slowest) console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`)
  }
}
