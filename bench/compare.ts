// Compares the CPU time of two commits, which take turns on stores with the same rows. bench/README.md explains options and
// output.
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Build, buildCommit, buildOfCheckout, hasCommit, openBuildCache } from './compareBuild.ts'
import { writeCompareData } from './compareData.ts'
import { type CompareRead, compareReads } from './compareReads.ts'
import { type CpuTime, Side } from './compareSide.ts'
import { stopPrograms } from './processes.ts'
import { describeMachine, writeResults } from './results.ts'
import { removeFolder } from './stores.ts'
import { median, quantile, rounded } from './timing.ts'

/** The commit that `.ci/run` compares with. Name a later commit when reads have become cheaper. */
const referenceCommit = 'f0c3c597bff559a9aa2d887586c179faffb3fef2'
/** The commit of the goals of compareReads.ts. */
const goalCommit = '60d5b676def51ad6ca5eb87f55baa10927a60d63'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Six reads of a small store, in about a minute. */
    short: { type: 'boolean', default: false },
    /** Pairs of measurements; every other pair starts with B. */
    turns: { type: 'string', default: '15' },
    /** Regular expression that the names of figures must match. */
    only: { type: 'string', default: '' },
    /** Clicks of the account that is read: 1,000,000, or 200,000 in the short form. */
    clicks: { type: 'string' },
    /** Clicks of each import. */
    'import-rows': { type: 'string', default: '50000' },
    /** Duration of each load of events. */
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '256,1024' },
    /** Requests of most reads in a turn. */
    requests: { type: 'string', default: '10' },
    /** Folder of rows and stores, which later runs of the same day reuse; by default a temporary one. */
    folder: { type: 'string' },
    /** File for the results, NDJSON. */
    out: { type: 'string' },
  },
})

/** What both commits do in each turn. */
interface Work {
  name: string
  /** The largest median of B / A; without it, `limit` applies to the lower quartile. */
  goal: number | undefined
  /** Runs of each commit in a turn, in which the commits alternate. */
  runs: number
  /** @returns what must be equal for both commits */
  warmUp(side: Side): Promise<unknown>
  /** @param number differs between all runs @returns the number of requests, events or clicks */
  run(side: Side, number: number): Promise<number>
}

/** The CPU time of A and of B for one request, event or click in a turn. */
type Turn = readonly [CpuTime, CpuTime]

const warmUpTurns = 3

const [from = referenceCommit, b] = positionals
const a = from === 'goals' ? goalCommit : from
/** The largest lower quartile of B / A: single turns differ more on a busy machine. */
const limit = options.short ? 1.1 : 1.05
const turnCount = Number(options.turns)
const clicks = Number(options.clicks ?? (options.short ? 200_000 : 1_000_000))
const importRows = options.short ? 0 : Number(options['import-rows'])

if (a === referenceCommit && !(await hasCommit(a))) {
  console.log(`Skipped: commit ${a} is neither in this clone nor at its remote origin.`)
} else {
  await compare()
}

async function compare(): Promise<void> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'tributary-compare-')))
  await mkdir(folder, { recursive: true })
  try {
    const cache = await openBuildCache()
    const buildA = await buildCommit(a, cache)
    const buildB = b === undefined ? await buildOfCheckout(folder) : await buildCommit(b, cache)
    // Rows are relative to the present day.
    const size = `${clicks}-${importRows}-${new Date().toISOString().slice(0, 10)}`
    const data = await writeCompareData(join(folder, `rows-${size}`), clicks, importRows)
    const sideA = new Side(buildA, data, join(folder, `a-${buildA.id}-${size}`))
    const sideB = new Side(buildB, data, join(folder, `b-${buildB.id}-${size}`))
    console.log(`A is ${buildA.name}, B is ${buildB.name}: filling a store of each with ${clicks} clicks`)
    await Promise.all([sideA.open(), sideB.open()])
    const works = worksOf(compareReads(data), buildA.commit === goalCommit && !options.short)
    const turns = await measure(works, sideA, sideB)
    await report([buildA, buildB], works, turns)
    await Promise.all([sideA.close(), sideB.close()])
  } finally {
    await stopPrograms()
    if (options.folder === undefined) await removeFolder(folder)
  }
}

/** @param hasGoals whether figures have goals, or one limit for all */
function worksOf(reads: readonly CompareRead[], hasGoals: boolean): Work[] {
  const works: Work[] = reads
    .filter(({ isShort }) => isShort || !options.short)
    .map((read) => {
      const runs = read.requests ?? Number(options.requests)
      const warmUpRuns = warmUpTurns * runs
      return {
        name: read.name,
        goal: hasGoals ? read.goal : undefined,
        runs,
        warmUp: async (side) => {
          for (let number = 0; number < warmUpRuns; number++) await side.read(read, number)
          return read.facts(await side.get(read.path(0)))
        },
        run: (side, number) => side.read(read, warmUpRuns + number),
      }
    })
  if (!options.short) {
    for (const connections of options.connections.split(',').map(Number)) {
      works.push({
        name: `event, ${connections} connections`,
        goal: undefined,
        runs: 1,
        warmUp: (side) => side.warmUpEvents(),
        run: (side, number) => side.sendEvents(connections, Number(options.seconds), number),
      })
    }
    works.push({
      name: 'import of a click',
      goal: undefined,
      runs: 1,
      warmUp: (side) => side.importClicks(),
      run: (side) => side.importClicks(),
    })
  }
  const only = new RegExp(options.only)
  return works.filter(({ name }) => only.test(name))
}

/** @returns the turns of each work */
async function measure(works: readonly Work[], sideA: Side, sideB: Side): Promise<Map<Work, Turn[]>> {
  for (const work of works) {
    const [factsA, factsB] = [await work.warmUp(sideA), await work.warmUp(sideB)].map((facts) => JSON.stringify(facts))
    if (factsA !== factsB) throw new Error(`${work.name}: A responds ${factsA}, and B ${factsB}`)
  }
  const turns = new Map<Work, Turn[]>(works.map((work) => [work, []]))
  for (let turn = 0; turn < turnCount; turn++) {
    for (const [work, measured] of turns) measured.push(await takeTurn(work, turn, sideA, sideB))
    console.log(`turn ${turn + 1} of ${turnCount}`)
  }
  return turns
}

/** Both commits run a work in the order A B B A …; what a commit does after its response counts too. */
async function takeTurn(work: Work, turn: number, sideA: Side, sideB: Side): Promise<Turn> {
  const runsA: CpuTime[] = []
  const runsB: CpuTime[] = []
  let [beforeA, beforeB] = [sideA.cpu(), sideB.cpu()]
  for (let run = 0; run < work.runs; run++) {
    const number = turn * work.runs + run
    const isReverse = number % 2 === 1
    const first = await work.run(isReverse ? sideB : sideA, number)
    const second = await work.run(isReverse ? sideA : sideB, number)
    const [afterA, afterB] = [sideA.cpu(), sideB.cpu()]
    runsA.push(perUnit(beforeA, afterA, isReverse ? second : first))
    runsB.push(perUnit(beforeB, afterB, isReverse ? first : second))
    ;[beforeA, beforeB] = [afterA, afterB]
  }
  return [meanOf(runsA), meanOf(runsB)]
}

/** The mean without the largest fifth, which contains garbage collections and the interruptions of a busy machine. */
function meanOf(runs: readonly CpuTime[]): CpuTime {
  const kept = runs.toSorted((one, other) => sumOf(one) - sumOf(other)).slice(0, Math.ceil(0.8 * runs.length))
  const mean = (part: keyof CpuTime) => kept.reduce((sum, run) => sum + run[part], 0) / kept.length
  return { node: mean('node'), engines: mean('engines') }
}

function sumOf({ node, engines }: CpuTime): number {
  return node + engines
}

function perUnit(before: CpuTime, after: CpuTime, count: number): CpuTime {
  return { node: (after.node - before.node) / count, engines: (after.engines - before.engines) / count }
}

async function report(builds: [Build, Build], works: readonly Work[], turns: Map<Work, Turn[]>): Promise<void> {
  const compared = works.map((work) => {
    const measured = turns.get(work) ?? []
    const medianOf = (side: 0 | 1, msOf: (cpu: CpuTime) => number) =>
      rounded(median(measured.map((turn) => msOf(turn[side]))))
    const ratios = measured.map(([cpuA, cpuB]) => sumOf(cpuB) / sumOf(cpuA))
    const [quartile, middle] = [quantile(ratios, 0.25), median(ratios)]
    return {
      figure: work.name,
      'A, ms': medianOf(0, sumOf),
      'B, ms': medianOf(1, sumOf),
      'A, engines': medianOf(0, ({ engines }) => engines),
      'B, engines': medianOf(1, ({ engines }) => engines),
      median: rounded(middle),
      quartile: rounded(quartile),
      goal: work.goal === undefined ? `quartile ≤ ${limit}` : `median ≤ ${work.goal}`,
      verdict: (work.goal === undefined ? quartile <= limit : middle <= work.goal) ? 'met' : 'MISSED',
      ratios: ratios.map(rounded),
    }
  })
  const beside = 'any load beside the servers'
  const [A, B] = builds.map(({ name, versions }) => ({ commit: name, versions }))
  const context = { A, B, clicks, turns: turnCount }
  console.log(describeMachine(beside), context)
  const columns = Object.keys(compared[0] ?? {}).filter((name) => name !== 'ratios')
  console.table(compared, columns)
  if (options.out) await writeResults(options.out, { beside, ...context }, compared)
  const missed = compared.filter(({ verdict }) => verdict !== 'met')
  if (missed.length > 0) {
    console.log(`B needs too much CPU time: ${missed.map(({ figure }) => figure).join('; ')}`)
    process.exitCode = 1
  }
}
