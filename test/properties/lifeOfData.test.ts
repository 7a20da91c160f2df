// @module-tag long

import fc from 'fast-check'
import { expect, it } from 'vitest'
import { setRetention } from '../../src/accounts/retention.ts'
import { removeOldMonths } from '../../src/cli/retentionJob.ts'
import type { App } from '../../src/http/context.ts'
import { Writer } from '../../src/writer/fence/session.ts'
import { findDifferences } from '../../src/writer/repair/differences.ts'
import { runHere } from '../cli/runCommand.ts'
import { importContent } from '../import/runImport.ts'
import { getFrom, type TestApp, useTestApp } from '../kit/app.ts'
import { useFolder } from '../kit/fixtures.ts'
import { Killed, killableStores } from '../kit/killedStores.ts'
import { randomCases } from '../kit/randomCases.ts'
import { contentOf, storedRowsOf } from '../writer/retention/retainedAccount.ts'
import { withWriter } from '../writer/withWriter.ts'
import {
  apply,
  campaigns,
  clicks,
  conversions,
  costs,
  erasures,
  events,
  fromSums,
  type Row,
  removals,
  type Step,
  statuses,
  time,
} from './lives.ts'

const source = useTestApp()
const target = useTestApp()
const folder = useFolder()

/** Both accounts get the same rows and erasures; months are removed from one of them. */
const aging = fc
  .tuple(
    clicks,
    conversions,
    costs,
    removals,
    conversions,
    statuses,
    fc.array(fc.oneof(clicks, conversions, statuses, costs, removals, erasures), { minLength: 3, maxLength: 6 }),
  )
  .map(([first, second, third, fourth, fifth, sixth, more]): Step[] => [
    first,
    second,
    third,
    fourth,
    fifth,
    sixth,
    ...more,
  ])

it('sums, lists and conversions are equal in an account that keeps all rows, through removals, erasures and kills', async () => {
  await source.account('untouched')
  const untouched = Array.from({ length: 12 }, (_, n) => ({ id: `c${n}`, clickedAt: time(n % 6, n), campaignId: 'k1' }))
  await importContent(source.stores, 'untouched', 'clicks', untouched)
  const others = await storedRowsOf(source.stores, 'untouched')
  let lives = 0
  await fc.assert(
    fc.asyncProperty(aging, async (steps) => {
      lives += 1
      const [kept, aged] = [`kept-${lives}`, `aged-${lives}`]
      const keys = { kept: await source.account(kept), aged: await source.account(aged) }
      const clickTimes = new Map<string, string>()
      const known = new Set<string>()
      let from = time(0, 0).slice(0, 10)
      for (const step of steps) {
        if (step.kind === 'remove') {
          const month = new Date(Date.UTC(2025, step.beforeMonth)).toISOString().slice(0, 10)
          if (month > from) from = month
          await removeKilled(aged, from, step.killedAfter)
        } else if (step.kind === 'erase') {
          for (const account of [kept, aged]) await apply(source, account, step)
        } else {
          // Clicks of removed months are rejected. Of a removed click a new conversion knows the campaign only.
          const isComparable = ({ id, clickedAt, spentAt, clickId }: Row) =>
            step.resource === 'clicks' || step.resource === 'costs'
              ? `${clickedAt ?? spentAt}` >= from
              : known.has(id) || (clickTimes.get(`${clickId}`) ?? from) >= from
          const rows = step.rows.filter(isComparable)
          for (const { id, clickedAt } of rows) {
            if (step.resource !== 'conversion-statuses') known.add(id)
            if (clickedAt && !clickTimes.has(id)) clickTimes.set(id, `${clickedAt}`)
          }
          const isOfConversions = /^conversion/.test(step.resource)
          const given = isOfConversions ? rows : step.rows
          const imported = await importContent(source.stores, aged, step.resource, given)
          const { rejected } = await importContent(source.stores, kept, step.resource, rows)
          expect(imported).toMatchObject({ rejected: given.length - rows.length + rejected })
        }
        const left = [
          `/clicks?limit=200&from=${from}`,
          `/costs?limit=200&from=${from}`,
          `/reports?group_by=region,country&from=${from}&to=2025-06-30`,
        ]
        for (const path of [...fromSums, ...left]) {
          const [whole, rest] = await Promise.all([
            read(source.app, path, keys.kept),
            read(source.app, path, keys.aged),
          ])
          expect([path, rest]).toEqual([path, whole])
        }
      }
      for (const account of [kept, aged]) expect(await withWriter(source.stores, account, findDifferences)).toEqual([])
      expect(await storedRowsOf(source.stores, 'untouched')).toBe(others)
    }),
    { numRuns: randomCases(1), endOnFailure: true },
  )
})

const steps = fc.array(fc.oneof(clicks, conversions, statuses, costs, events, campaigns, removals, erasures), {
  maxLength: 4,
})
/** Steps before the move and after it. Those after it begin with the repetition of the files that were killed before it. */
const moving = fc
  .tuple(
    clicks,
    conversions,
    conversions,
    costs,
    events,
    removals,
    steps,
    fc.tuple(conversions, statuses, costs),
    steps,
  )
  .map(([first, second, third, fourth, fifth, removal, more, changes, last]) => {
    const before: Step[] = [first, second, third, fourth, fifth, removal, ...more]
    const complete = (step: Step): Step[] => (step.kind === 'file' ? [{ ...step, lines: step.rows.length }] : [])
    return { before, after: [...before.flatMap(complete), ...changes, ...last] }
  })

it('a moved account gets the same rows and numbers from the same later imports, removals and erasures', async () => {
  let lives = 0
  await fc.assert(
    fc.asyncProperty(moving, async ({ before, after }) => {
      lives += 1
      const account = `moved-${lives}`
      const key = await source.account(account)
      for (const step of before) await apply(source, account, step)
      const output = folder(account)
      await command(source, 'account', 'export', '--account', account, '--output', output)
      await command(target, 'account', 'import', output)
      const expectEqual = async () => {
        // Other servers may still have it cached that a campaign is unknown.
        const [from, to] = [await source.open(), await target.open()]
        for (const path of [...fromSums, '/clicks?limit=200', '/costs?limit=200', '/events?limit=200']) {
          const [here, there] = await Promise.all([read(from, path, key), read(to, path, key)])
          expect([path, there]).toEqual([path, here])
        }
        expect(await contentOf(target.stores, account)).toEqual(await contentOf(source.stores, account))
      }
      await expectEqual()
      for (const step of after) {
        const [here, there] = [await apply(source, account, step), await apply(target, account, step)]
        expect([step, there]).toEqual([step, here])
      }
      await expectEqual()
      expect(await withWriter(target.stores, account, findDifferences)).toEqual([])
    }),
    { numRuns: randomCases(1), endOnFailure: true },
  )
})

async function command({ stores }: TestApp, ...words: string[]): Promise<void> {
  const { code, stderr } = await runHere(words, stores.environment)
  expect([code, stderr.replace(/^warning: .*\n/gm, '')]).toEqual([0, ''])
}

/** Removes the months before a date, first as a process that is killed; the next writer completes it. */
async function removeKilled(account: string, from: string, killedAfter: number): Promise<void> {
  const { stores } = source
  await setRetention(stores.postgres, account, { clickMonths: 1 })
  const date = new Date(from)
  const nowMs = date.setUTCMonth(date.getUTCMonth() + 1, 10)
  const killed = killableStores(stores)
  await withWriter(stores, account, async (writer) => {
    killed.allow(killedAfter)
    await removeOldMonths(new Writer({ ...writer, stores: killed.stores }), nowMs, 0).catch((error) => {
      if (!(error instanceof Killed)) throw error
    })
  })
  await stores.postgres`UPDATE retained_ranges SET recorded_at = recorded_at - interval '1 minute'`
  await withWriter(stores, account, (writer) => removeOldMonths(writer, nowMs, 0))
}

/** Without times of storage, which differ. */
async function read(app: App, path: string, key: string): Promise<unknown> {
  const { statusCode, body } = await getFrom(app, path, key)
  expect([path, statusCode]).toEqual([path, 200])
  return JSON.parse(body, (name, value) => (['storedAt', 'asOf', 'dataThrough'].includes(name) ? undefined : value))
}
