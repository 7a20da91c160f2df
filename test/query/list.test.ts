import fc from 'fast-check'
import { expect, it } from 'vitest'
import { byKey, readNext, type Source } from '../../src/query/list.ts'

/** A key of a candidate; `copies` of it are stored, and its row is listed if `isListed`. */
interface Candidate {
  atMs: number
  id: string
}

const candidates = fc.array(fc.record({ copies: fc.integer({ min: 1, max: 4 }), isListed: fc.boolean() }), {
  maxLength: 60,
})

it('a page has the next rows of its sources once and in order, however many candidates are copies or do not match', async () => {
  await fc.assert(
    fc.asyncProperty(candidates, fc.integer({ min: 1, max: 12 }), fc.nat(60), async (stored, limit, split) => {
      const keys = stored.flatMap(({ copies }, atMs) => Array<Candidate>(copies).fill({ atMs, id: `${atMs}` }))
      const isListed = ({ atMs }: Candidate) => stored[atMs]?.isListed === true
      const sourceOf = (own: Candidate[]): Source<Candidate, Candidate> => {
        return byKey({
          async keys(after, count, isExact) {
            const next = own.filter(({ atMs }) => atMs > (after?.atMs ?? -1))
            return (isExact ? next.filter(isListed) : next).slice(0, count)
          },
          rows: async (some) => some.filter(isListed),
        })
      }
      const before = (key: Candidate) => key.atMs < split
      const listed: Candidate[] = []
      for (let after: Candidate | undefined; ; after = listed.at(-1)) {
        const sources = [sourceOf(keys.filter(before)), sourceOf(keys.filter((key) => !before(key)))]
        const { rows: page } = await readNext(sources, after, limit)
        listed.push(...page)
        if (page.length < limit) break
      }
      expect(listed.map(({ atMs }) => atMs)).toEqual(stored.flatMap((one, atMs) => (one.isListed ? [atMs] : [])))
    }),
  )
})
