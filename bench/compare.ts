// Is a commit slower than another one? Both are measured in turns on stores with the same rows.
// bench/README.md says how to run this and how to read it.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Build, buildCommit } from './compareBuild.ts'
import { writeCompareData } from './compareData.ts'
import { type Figure, Side } from './compareSide.ts'
import { busyCores, stopPrograms } from './processes.ts'
import { rounded } from './timing.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Pairs of measurements; every other one begins with B. */
    rounds: { type: 'string', default: '5' },
    /** Only figures whose name this regular expression finds. */
    only: { type: 'string', default: '' },
    /** Clicks of the account that is read and exported. */
    clicks: { type: 'string', default: '1000000' },
    'import-rows': { type: 'string', default: '200000' },
    /** Of each load of events and of the cached report. */
    seconds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '256,1024' },
    /** Of each read. */
    requests: { type: 'string', default: '40' },
    /** After this the run ends, whatever it has measured. */
    minutes: { type: 'string', default: '60' },
    /** Keeps builds and stores there for the next run; otherwise they are removed. */
    folder: { type: 'string' },
    /** Where the report is written as JSON. */
    out: { type: 'string' },
  },
})

/** A change of more than this is called one. */
const threshold = 0.03
/** Cores busy with something else from which on figures say little. */
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

/** Figures by round, of A and of B. */
const rounds: [Figure[], Figure[]][] = []
/** Cores that something else kept busy, before each measurement. */
const busyElsewhere: number[] = []
let isInTime = true
const timer = setTimeout(async () => {
  isInTime = false
  // Whatever is asked of a server fails now, and ends the run.
  await stopPrograms()
}, limitMs)
try {
  const builds: [Build, Build] = [await buildCommit(a, join(folder, 'a')), await buildCommit(b, join(folder, 'b'))]
  const data = await writeCompareData(join(folder, 'rows'), Number(options.clicks), Number(options['import-rows']))
  const sides = builds.map(
    (build, index) => new Side(build, data, join(folder, index === 0 ? 'a' : 'b', `store-${options.clicks}`)),
  )
  const [sideA, sideB] = sides as [Side, Side]
  for (const side of [sideA, sideB]) {
    console.log(`${side.build.name}: filling its store with ${data.clicks} clicks, unless it is`)
    mustBeInTime()
    await side.fill()
  }
  const facts = new Map<string, string>()
  for (let round = 0; round < Number(options.rounds); round++) {
    const measured = new Map<Side, Figure[]>()
    for (const side of round % 2 === 0 ? [sideA, sideB] : [sideB, sideA]) {
      mustBeInTime()
      busyElsewhere.push(rounded(await busyCores()))
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
  if (options.folder === undefined) await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
}

/** The limit may pass while nothing runs that could be stopped, as during a build. */
function mustBeInTime(): void {
  if (!isInTime) throw new Error('The time is over.')
}

/** One figure of both commits over all rounds. */
interface Compared {
  figure: string
  unit: string
  a: number
  b: number
  /** B / A of each round. */
  ratios: number[]
  verdict: string
}

async function report([buildA, buildB]: [Build, Build]): Promise<void> {
  const compared = (rounds[0]?.[0] ?? []).map(({ name, unit }): Compared => {
    const valuesOf = (side: 0 | 1) =>
      rounds.map((round) => round[side].find((it) => it.name === name)?.value ?? Number.NaN)
    const [valuesA, valuesB] = [valuesOf(0), valuesOf(1)]
    const ratios = valuesB.map((value, round) => value / (valuesA[round] ?? Number.NaN))
    return {
      ...{ figure: name, unit, a: rounded(median(valuesA)), b: rounded(median(valuesB)) },
      ratios: ratios.map(rounded),
      verdict: verdictOf(ratios, unit),
    }
  })
  const [cpu] = cpus()
  const provenance = {
    date: new Date().toISOString(),
    machine: `${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, load and engines beside the server`,
    a: { commit: buildA.name, versions: buildA.versions },
    b: { commit: buildB.name, versions: buildB.versions },
    ...{ clicks: Number(options.clicks), importRows: Number(options['import-rows']), rounds: rounds.length },
    busyElsewhere,
  }
  console.log(provenance)
  console.table(
    compared.map(({ ratios, a: valueA, b: valueB, ...rest }) => ({
      ...{ figure: rest.figure, unit: rest.unit, A: valueA, B: valueB },
      ...{ min: Math.min(...ratios), 'B / A': rounded(median(ratios)), max: Math.max(...ratios) },
      verdict: rest.verdict,
    })),
  )
  if (Math.max(...busyElsewhere) > busyCoresMax) {
    console.log(
      `The machine was not quiet: up to ${Math.max(...busyElsewhere)} cores were busy with something else. Repeat this alone.`,
    )
  }
  if (options.out) await writeFile(options.out, `${JSON.stringify({ ...provenance, compared }, null, 2)}\n`)
}

/** What the middle ratio says, and whether the rounds agree on it. */
function verdictOf(ratios: readonly number[], unit: Figure['unit']): string {
  const ratio = median(ratios)
  // How much longer B takes for the same work.
  const slowdown = unit === 'ms' ? ratio - 1 : 1 / ratio - 1
  if (Math.abs(slowdown) <= threshold) return 'within 3 %'
  const isDivided = Math.min(...ratios) < 1 && Math.max(...ratios) > 1
  const change = `${rounded(Math.abs(slowdown) * 100)} % ${slowdown > 0 ? 'slower' : 'faster'}`
  return isDivided ? `${change}, but not in every round` : change
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}
