// Compares the speed of two commits, which alternate on stores with the same rows. bench/README.md explains options and
// output.
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Build, buildCommit } from './compareBuild.ts'
import { writeCompareData } from './compareData.ts'
import { type Figure, Side } from './compareSide.ts'
import { busyCores, stopPrograms } from './processes.ts'
import { describeMachine, writeResults } from './results.ts'
import { removeFolder } from './stores.ts'
import { median, rounded } from './timing.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Pairs of measurements; every other pair starts with B. */
    rounds: { type: 'string', default: '5' },
    /** Regular expression that the names of figures must match. */
    only: { type: 'string', default: '' },
    /** Clicks of the account that is read and exported. */
    clicks: { type: 'string', default: '1000000' },
    'import-rows': { type: 'string', default: '200000' },
    /** Duration of each load of events and of the cached report. */
    seconds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '256,1024' },
    /** Requests of each read. */
    requests: { type: 'string', default: '40' },
    /** Maximum duration of the run. */
    minutes: { type: 'string', default: '60' },
    /** Folder of builds and stores, which later runs reuse; by default a temporary one. */
    folder: { type: 'string' },
    /** File for the results, NDJSON. */
    out: { type: 'string' },
  },
})

/** Smaller changes are reported as equal. */
const threshold = 0.03
/** Above this number of cores used by other processes the results are not reliable. */
const busyCoresMax = 0.2

const [a = 'HEAD~', b] = positionals
const sizes = {
  only: new RegExp(options.only),
  requests: Number(options.requests),
  seconds: Number(options.seconds),
  connections: options.connections.split(',').map(Number),
}
const startedMs = performance.now()
const limitMs = Number(options.minutes) * 60_000
const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'tributary-compare-')))
await mkdir(folder, { recursive: true })

/** Figures of A and of B by round. */
const rounds: [Figure[], Figure[]][] = []
/** Cores used by other processes before each measurement. */
const otherCores: number[] = []
let isInTime = true
const timer = setTimeout(async () => {
  isInTime = false
  // Requests to the stopped servers fail, which ends the run.
  await stopPrograms()
}, limitMs)
try {
  const builds: [Build, Build] = [await buildCommit(a, join(folder, 'a')), await buildCommit(b, join(folder, 'b'))]
  const [clicks, importRows] = [Number(options.clicks), Number(options['import-rows'])]
  const data = await writeCompareData(join(folder, `rows-${clicks}-${importRows}`), clicks, importRows)
  const sides = builds.map(
    (build, index) => new Side(build, data, join(folder, index === 0 ? 'a' : 'b', `${build.id}-${options.clicks}`)),
  )
  const [sideA, sideB] = sides as [Side, Side]
  for (const side of [sideA, sideB]) {
    console.log(`${side.build.name}: filling its store with ${data.clicks} clicks, unless it is filled`)
    assertInTime()
    await side.fill()
  }
  const facts = new Map<string, string>()
  for (let round = 0; round < Number(options.rounds); round++) {
    const measured = new Map<Side, Figure[]>()
    for (const side of round % 2 === 0 ? [sideA, sideB] : [sideB, sideA]) {
      assertInTime()
      otherCores.push(rounded(await idleCores()))
      measured.set(side, await side.measure(sizes, facts))
    }
    rounds.push([measured.get(sideA) ?? [], measured.get(sideB) ?? []])
    const minutes = rounded((performance.now() - startedMs) / 60_000)
    console.log(`round ${round + 1} of ${options.rounds}: ${minutes} minutes since the start`)
  }
  await report(builds)
} catch (error) {
  if (isInTime) throw error
  console.error(`Stopped after ${options.minutes} minutes with ${rounds.length} rounds measured; see --minutes.`)
  process.exitCode = 1
} finally {
  clearTimeout(timer)
  await stopPrograms()
  if (options.folder === undefined) await removeFolder(folder)
}

/**
 * Waits until other processes are idle, at most a minute: processes of the last measurement may still work, and would only
 * disturb the commit that is measured next.
 * @returns cores that other processes use then
 */
async function idleCores(): Promise<number> {
  let busy = await busyCores()
  for (let attempt = 0; busy > busyCoresMax && attempt < 59; attempt++) busy = await busyCores()
  return busy
}

/** The limit may pass while no server runs, as during a build. */
function assertInTime(): void {
  if (!isInTime) throw new Error('The time limit is exceeded.')
}

async function report([buildA, buildB]: [Build, Build]): Promise<void> {
  const compared = (rounds[0]?.[0] ?? []).map(({ name, unit }) => {
    const valuesOf = (side: 0 | 1) =>
      rounds.map((round) => round[side].find((it) => it.name === name)?.value ?? Number.NaN)
    const [valuesA, valuesB] = [valuesOf(0), valuesOf(1)]
    const ratios = valuesB.map((value, round) => value / (valuesA[round] ?? Number.NaN))
    return {
      figure: name,
      unit,
      A: rounded(median(valuesA)),
      B: rounded(median(valuesB)),
      min: rounded(Math.min(...ratios)),
      'B / A': rounded(median(ratios)),
      max: rounded(Math.max(...ratios)),
      verdict: verdictOf(ratios, unit),
      ratios: ratios.map(rounded),
    }
  })
  const beside = 'load and engines beside the server'
  const context = {
    a: { commit: buildA.name, versions: buildA.versions },
    b: { commit: buildB.name, versions: buildB.versions },
    clicks: Number(options.clicks),
    importRows: Number(options['import-rows']),
    rounds: rounds.length,
    otherCores,
  }
  console.log(describeMachine(beside), context)
  console.table(compared, ['figure', 'unit', 'A', 'B', 'min', 'B / A', 'max', 'verdict'])
  if (Math.max(...otherCores) > busyCoresMax) {
    console.log(
      `The machine was not idle: other processes used up to ${Math.max(...otherCores)} cores. Repeat this on an idle machine.`,
    )
  }
  if (options.out) await writeResults(options.out, { beside, ...context }, compared)
}

/** The change by the median ratio, and whether all rounds agree on its direction. */
function verdictOf(ratios: readonly number[], unit: Figure['unit']): string {
  const ratio = median(ratios)
  // The additional time of B for the same work.
  const slowdown = unit === 'ms' ? ratio - 1 : 1 / ratio - 1
  if (Math.abs(slowdown) <= threshold) return 'within 3 %'
  const isDivided = Math.min(...ratios) < 1 && Math.max(...ratios) > 1
  const change = `${rounded(Math.abs(slowdown) * 100)} % ${slowdown > 0 ? 'slower' : 'faster'}`
  return isDivided ? `${change}, but not in every round` : change
}
