/** Names with a share each. */
export type Shares<Name extends string = string> = Readonly<Partial<Record<Name, number>>>

export type Draws = ReturnType<typeof openDraws>

export const sumOf = (shares: Shares) => Object.values(shares).reduce<number>((sum, share) => sum + (share ?? 0), 0)

/** The sum of the shares of each table that was drawn from. */
const totals = new WeakMap<object, number>()

/** Opens the random numbers of a seed: the same text gives the same numbers. */
export function openDraws(seed: string) {
  // FNV-1a of the seed, then mulberry32: opening is fast, since each visit has its own seed.
  let state = 0x811c9dc5
  for (let index = 0; index < seed.length; index++) state = Math.imul(state ^ seed.charCodeAt(index), 0x01000193)
  /** A number in [0, 1). */
  const unit = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    unit,
    chance: (probability: number) => unit() < probability,
    /** A whole number from `low` to `high`, both included. */
    between: (low: number, high: number) => low + Math.floor(unit() * (high - low + 1)),
    pick: <T>(list: readonly T[]) => list[Math.floor(unit() * list.length)] as T,
    /** A name of a table, weighted by its share. */
    pickShared<Name extends string>(shares: Shares<Name>): Name {
      const total = totals.get(shares) ?? sumOf(shares)
      totals.set(shares, total)
      let rest = unit() * total
      for (const name in shares) {
        rest -= shares[name] ?? 0
        if (rest < 0) return name
      }
      return Object.keys(shares).at(-1) as Name
    },
    /** An exponentially distributed waiting time with that mean. */
    exponential: (mean: number) => -mean * Math.log(1 - unit()),
    /** `mean`, rounded up or down at random so that the average is `mean`. */
    count: (mean: number) => Math.floor(mean + unit()),
  }
}
