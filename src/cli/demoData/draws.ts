import { createHash } from 'node:crypto'
import { uniformFloat32 } from 'pure-rand/distribution/uniformFloat32'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

export type Shares<T> = readonly (readonly [T, number])[]

export type Draws = ReturnType<typeof openDraws>

/** Creates the draws of a seed: the same text gives the same draws. */
export function openDraws(seed: string) {
  // Similar seeds give similar first numbers, so the text is hashed.
  const random = xoroshiro128plus(createHash('sha256').update(seed).digest().readInt32LE())
  const totals = new WeakMap<object, number>()
  /** A number in [0, 1). */
  const unit = () => uniformFloat32(random)
  return {
    unit,
    chance: (probability: number) => unit() < probability,
    /** A whole number from `low` to `high`, both included. */
    between: (low: number, high: number) => low + Math.floor(unit() * (high - low + 1)),
    pick: <T>(list: readonly T[]) => list[Math.floor(unit() * list.length)] as T,
    /** An element of a non-empty list, weighted by share. */
    pickShared<T>(shares: Shares<T>): T {
      const total = totals.get(shares) ?? shares.reduce((sum, [, share]) => sum + share, 0)
      totals.set(shares, total)
      let rest = unit() * total
      for (const [value, share] of shares) {
        rest -= share
        if (rest < 0) return value
      }
      return (shares.at(-1) as readonly [T, number])[0]
    },
    /** An exponentially distributed waiting time with that mean. */
    exponential: (mean: number) => -mean * Math.log(1 - unit()),
    /** `mean`, rounded up or down at random so that the average is `mean`. */
    count: (mean: number) => Math.floor(mean + unit()),
  }
}
