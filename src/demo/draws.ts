import { createHash } from 'node:crypto'
import { uniformFloat32 } from 'pure-rand/distribution/uniformFloat32'
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus'

/** Values with a share each; the shares need not add up to anything. */
export type Shares<T> = readonly (readonly [T, number])[]

/** Random draws that follow from their seed alone. */
export interface Draws {
  /** A number from 0 up to, but not including, 1. */
  unit(): number
  chance(probability: number): boolean
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T
  /** One of a list that is not empty, by its shares. */
  pickShared<T>(shares: Shares<T>): T
  /** How long one waits for what happens once in `mean` on average. */
  wait(mean: number): number
  /** A whole number whose average is `mean`, give or take one. */
  count(mean: number): number
}

/** Opens the draws of a seed: the same text gives the same draws. */
export function openDraws(seed: string): Draws {
  // Near seeds give near first numbers, so the text is hashed before it becomes one.
  const random = xoroshiro128plus(createHash('sha256').update(seed).digest().readInt32LE())
  const totals = new WeakMap<object, number>()

  const unit = () => uniformFloat32(random)
  return {
    unit,
    chance: (probability) => unit() < probability,
    between: (low, high) => low + Math.floor(unit() * (high - low + 1)),
    pick: <T>(list: readonly T[]) => list[Math.floor(unit() * list.length)] as T,
    pickShared<T>(shares: Shares<T>): T {
      let total = totals.get(shares)
      if (total === undefined) {
        total = shares.reduce((sum, [, share]) => sum + share, 0)
        totals.set(shares, total)
      }
      let rest = unit() * total
      for (const [value, share] of shares) {
        rest -= share
        if (rest < 0) return value
      }
      return (shares.at(-1) as readonly [T, number])[0]
    },
    wait: (mean) => -mean * Math.log(1 - unit()),
    count: (mean) => Math.floor(mean + unit()),
  }
}
