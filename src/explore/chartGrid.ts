/** An axis from `low` to `high`, with a line of the grid at every multiple of `step`. */
export type GridAxis = { low: number; high: number; step: number }

const linesWanted = 5

/**
 * Axes with round steps that include zero; their zeros and their lines of the grid are at the same heights.
 * @param values of each axis; the distance of two lines of the grid is never less than `stepMin`, for example 1 for counts
 */
export function gridAxes(values: readonly { min: number; max: number; stepMin: number }[]): GridAxis[] {
  const axes = values.map(({ min, max, stepMin }) => {
    const [low, high] = [Math.min(0, min), Math.max(0, max)]
    return { low, high, step: Math.max(stepMin, roundStep((high - low || 1) / linesWanted)) }
  })
  const below = Math.max(...axes.map(({ low, step }) => Math.ceil(-low / step)))
  const above = Math.max(1, ...axes.map(({ high, step }) => Math.ceil(high / step)))
  return axes.map(({ step }) => ({ step, low: -below * step, high: above * step }))
}

/** The least of 1, 2, 5, 10, 20, … and their decimal fractions that is not below a size. */
function roundStep(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size))
  return power * ([1, 2, 5].find((digit) => digit * power >= size) ?? 10)
}
