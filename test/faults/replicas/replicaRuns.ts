import { setTimeout as sleep } from 'node:timers/promises'
import { openDraws } from '../../../src/cli/demoData/draws.ts'
import type { App } from '../../../src/http/context.ts'
import { Problem } from '../../../src/problem.ts'
import { contentOfNode } from '../../kit/clickhouseCluster.ts'
import type { ReplicaNode } from '../../kit/replicas.ts'
import { until } from '../../kit/until.ts'
import type { CrashAccount } from '../crashes/crashAccount.ts'
import type { FeedEngines } from '../feed/feedEngines.ts'
import { compare, complete, createAccounts, erase, remove } from '../feed/feedKills.ts'
import { startFeed } from '../feed/feedProcess.ts'
import { type SeedScenario, seedScenario } from '../feed/feedScenarios.ts'
import { openSender } from '../feed/sender.ts'
import { makeSends } from '../feed/sends.ts'
import { openOnNodes } from './openOnNodes.ts'
import { type Outages, openOutages } from './outages.ts'

/** From the first 503 to the next 200, while each shard has a node that responds. */
const failedMaxMs = 5_000
/** Of one read, then: a node that is suspended delays it. */
const readMaxMs = 15_000
/** Longest time until two writes of each kind succeed again after an outage. */
const recoveryMaxMs = 60_000
const finalMaxMs = 180_000

/**
 * Sends random rows to a feed, events and imports to servers on both nodes, and reads, while replicas and Keeper fail at random. Then
 * it compares what each node has with what was acknowledged.
 * @returns what is wrong, and the outages
 */
export async function runReplicaOutages(
  engines: FeedEngines,
  seed: number,
  { outages: count = 12 } = {},
): Promise<{ faults: string[]; moments: string[] }> {
  const { replicas } = engines
  if (!replicas) throw new Error('The engines have no replicas.')
  const draws = openDraws(`outages of replicas ${seed}`)
  const { accounts, chunks } = makeSends(`r${seed}`, seed, 0.4)
  const keys = await createAccounts(engines, accounts)
  const { accounts: views, close } = await openOnNodes(engines, replicas)
  const outages = openOutages(replicas, draws)
  const environment = { FEED_REJECTS: `${engines.folder}/r${seed}.rejects` }
  const sender = openSender(environment.FEED_REJECTS)
  let feed = await startFeed(engines, { environment })
  const writes = await openWrites(views, draws)
  const [{ id = '' } = {}] = accounts
  const reads = views.map(({ app }) => openReads(app, keys.get(id) ?? '', outages))
  const commands = [erase(engines, accounts), remove(engines, accounts)]
  for (const command of commands) command.catch(() => {})
  const found: string[] = []
  const moments: string[] = []

  const sendTo = async (share: typeof chunks) => {
    if (feed.ending !== null) {
      moments.push(`the feed exited with ${feed.ending}`)
      if (/\n +at /.test(feed.log())) found.push(feed.log())
      feed = await startFeed(engines, { environment })
    }
    sender.moveTo(feed, share)
  }
  try {
    for (let round = 0; round < count; round += 1) {
      await sendTo(chunks.slice(0, Math.ceil((chunks.length * (round + 1)) / (count + 0.5))))
      await sleep(draws.between(200, 1_500))
      const outage = await outages.injectNext()
      moments.push(outage)
      const ended = writes.count()
      const isWriting = () => writes.count().every((number, index) => number > (ended[index] ?? 0) + 1)
      await until(isWriting, recoveryMaxMs).catch(() => found.push(`${outage}: no write succeeds afterwards`))
    }
    await sendTo(chunks)
    await until(() => sender.isDone(chunks) || feed.ending !== null, finalMaxMs).catch(() => {})
    const open = chunks.filter((chunk) => !sender.done.has(chunk))
    if (open.length > 0) found.push(`${open.length} chunks have no final result; ${feed.ending} ${feed.log()}`)
    found.push(...(await Promise.all(commands)).flat(), ...(await writes.end()))
    for (const read of reads) found.push(...(await read.end()))
    const code = await feed.end('SIGTERM')
    if (code !== 0) found.push(`The feed exited with ${code}: ${feed.log()}`)
    found.push(...(await complete(engines, accounts)))
    await replicas.synchronize()
    const isEqual = async () => (await differingNodes(replicas.nodes)).length === 0
    await until(isEqual, recoveryMaxMs).catch(async () => found.push(...(await differingNodes(replicas.nodes))))
    for (const [index, view] of views.entries()) {
      const differences = [await view.differences()]
      // Both nodes have the same rows, so each account is compared through one of them.
      for (const account of accounts.filter((_, at) => at % views.length === index))
        differences.push(await compare(view, account, keys.get(account.id) ?? ''))
      found.push(...differences.flat().map((line) => `node ${index}: ${line}`))
    }
  } finally {
    await outages.end()
    feed.child.kill('SIGKILL')
    found.push(...(await sender.close()))
    await writes.end()
    for (const read of reads) await read.end()
    await close()
  }
  return { faults: found, moments }
}

/** Sends events, and imports clicks, conversions and their approvals, through all servers until it is ended. */
async function openWrites(views: readonly CrashAccount[], draws: ReturnType<typeof openDraws>) {
  const faults: string[] = []
  const [account] = views
  const apps = views.map(({ app }) => app)
  const clicks = [0, 1, 2]
  await account?.import('clicks', clicks)
  let [events, imports] = [0, 0]
  let isEnded = false

  async function sendEvents(): Promise<void> {
    for (; !isEnded; events += 1) {
      const ids = [0, 1, 2].slice(draws.chance(0.3) ? 0 : 2).map((index) => `${events}-${index}`)
      const click = draws.pick(clicks)
      const orders = [apps, apps.toReversed()]
      const chosen = draws.chance(0.2) ? orders : [draws.pick(orders)]
      await Promise.all(chosen.map((order) => account?.sendEvents(click, ids, order)))
      await sleep(50)
    }
  }

  async function importRows(): Promise<void> {
    for (; !isEnded; imports += 1) {
      const numbers = [0, 1, 2, 3].map((index) => clicks.length + 4 * imports + index)
      for (const change of ['clicks', 'conversions', 'approvals'] as const) {
        for (let attempt = 0; ; attempt += 1) {
          try {
            await views[(imports + attempt) % views.length]?.import(change, numbers, attempt === 0)
            break
          } catch (error) {
            if (!(error instanceof Problem && error.code === 'unavailable')) throw error
          }
        }
      }
      await sleep(100)
    }
  }
  const running = [sendEvents(), importRows()].map((loop) =>
    loop.catch((error: Error) => void faults.push(error.stack ?? error.message)),
  )
  return {
    count: () => [events, imports],
    async end(): Promise<string[]> {
      isEnded = true
      await Promise.all(running)
      return faults.splice(0)
    },
  }
}

function openReads(app: App, key: string, outages: Outages) {
  const faults: string[] = []
  let isEnded = false
  const url = '/api/v1/reports?group_by=day&from=2026-09-01&to=2026-10-31'
  const running = (async () => {
    for (let failedMs: number | undefined; !isEnded; await sleep(100)) {
      const startedMs = performance.now()
      const { statusCode, body } = await app.inject({ url, headers: { authorization: `ApiKey ${key}` } })
      const nowMs = performance.now()
      failedMs = statusCode === 200 ? undefined : (failedMs ?? nowMs)
      const servedMs = nowMs - (outages.servedSinceMs ?? nowMs)
      const gapMs = Math.min(servedMs, nowMs - (failedMs ?? nowMs))
      const tookMs = Math.min(servedMs, nowMs - startedMs)
      const got = `${statusCode} ${body.slice(0, 200)}`
      if (gapMs > failedMaxMs) faults.push(`Reads failed for ${Math.round(gapMs)} ms: ${got}`)
      if (tookMs > readMaxMs) faults.push(`A read took ${Math.round(tookMs)} ms: ${got}`)
      if (statusCode !== 200 && statusCode !== 503) faults.push(`A read got ${got}`)
    }
  })()
  return {
    async end(): Promise<string[]> {
      isEnded = true
      await running
      return faults.splice(0).slice(-3)
    },
  }
}

/** @returns a line per shard whose nodes have different rows */
async function differingNodes(nodes: readonly ReplicaNode[]): Promise<string[]> {
  const contents = await Promise.all(nodes.map((node) => contentOfNode(node)))
  return nodes.flatMap(({ shard }, index) => {
    const first = nodes.findIndex((node) => node.shard === shard)
    const [expected = [], present = []] = [contents[first], contents[index]].map((content) => content?.split('\n'))
    const differing = present.filter((line, at) => line !== expected[at])
    return differing.length > 0 ? [`Node ${index} differs from node ${first}: ${differing}`] : []
  })
}

const one = { replicatedShards: 1 }
const enginesByRest = [one, one, one, { replicatedShards: 2 }]

export const replicaScenarios: Record<string, SeedScenario> = {
  'random outages under events, imports and a feed': seedScenario(enginesByRest, 2, runReplicaOutages),
}
