import uPlot from 'uplot'
import { type GridAxis, gridAxes } from './chartGrid.ts'

export interface ChartLine {
  values: readonly (number | null)[]
  /** Index of the axis: 0 is at the left, 1 at the right. */
  axis: number
  /** Class with the color of the line. */
  ink: string
  dash?: 'dotted' | 'dashed'
  /** Of the earlier range: thinner and paler. */
  isEarlier?: boolean
}

export interface ChartOptions {
  /** The label of each unit of time, after the label before it; empty: none before. */
  tick: (index: number, before: number | undefined) => string
  units: number
  lines: readonly ChartLine[]
  /** At most two: the name, the class with the color of the values, the least distance of two lines of the grid, and the text of a value. */
  axes: readonly { label: string; ink: string; stepMin: number; format: (value: number) => string }[]
  /** Called with the index of the unit under the pointer; null: none. */
  onHover: (index: number | null) => void
}

const heightPx = 260
const dashes = { dotted: [2, 5], dashed: [7, 5] }

/**
 * Draws lines over units of time into an element, as wide as the element, in the colors of the classes inside it, among them
 * `axis` and `chart`, the color of the grid. It is drawn again when the theme of the system changes.
 * @returns removes the chart
 */
export function drawChart(element: HTMLElement, { tick, units, lines, axes, onHover }: ChartOptions): () => void {
  const font = `12px ${getComputedStyle(element).fontFamily}`
  const grids = gridAxes(axes.map(({ stepMin }, index) => ({ stepMin, ...extentOf(lines, index) })))
  const axisOf = ({ low, high, step }: GridAxis, index: number): uPlot.Axis => ({
    scale: `${index}`,
    side: index === 0 ? 3 : 1,
    stroke: inkOf(element, axes[index]?.ink ?? 'axis'),
    font,
    label: axes[index]?.label ?? '',
    labelFont: font,
    labelSize: 18,
    // In px; the labels of amounts in some languages are long.
    size: (_chart, values) => Math.max(64, ...(values ?? []).map((text) => 8 * text.length)),
    grid: { show: index === 0, stroke: inkOf(element, 'chart'), width: 1 },
    ticks: { show: false },
    splits: () => Array.from({ length: Math.round((high - low) / step) + 1 }, (_, line) => low + line * step),
    values: (_chart, values) => values.map((value) => axes[index]?.format(value) ?? ''),
  })
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: heightPx,
    padding: [12, axes.length > 1 ? 8 : 24, 0, 8],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      x: { time: false, range: [0, Math.max(1, units - 1)] },
      ...Object.fromEntries(grids.map(({ low, high }, index) => [index, { range: [low, high] as uPlot.Range.MinMax }])),
    },
    axes: [
      {
        stroke: inkOf(element, 'axis'),
        font,
        grid: { show: false },
        ticks: { show: false },
        // The width of a label, in px.
        space: 90,
        size: 38,
        // Below the lowest label of the other axes.
        gap: 9,
        // Whole units only.
        incrs: [1, 2, 3, 4, 6, 7, 12, 14, 24, 28, 48, 72, 168, 336],
        values: (_chart, indexes) => indexes.map((index, at) => tick(index, indexes[at - 1])),
      },
      ...grids.map(axisOf),
    ],
    series: [
      {},
      ...lines.map(
        ({ values, axis, ink: name, dash, isEarlier }): uPlot.Series => ({
          scale: `${axis}`,
          stroke: inkOf(element, name),
          ...(isEarlier ? { width: 1.5, alpha: 0.7 } : { width: 2 }),
          ...(dash && { dash: dashes[dash] }),
          points: { show: values.filter((value) => value !== null).length === 1 },
        }),
      ),
    ],
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
  }
  const indexes = Array.from({ length: units }, (_, index) => index)
  const data = [indexes, ...lines.map(({ values }) => [...values])] as uPlot.AlignedData
  const chart = new uPlot(options, data, element)
  const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: heightPx }))
  observer.observe(element)
  // The color of the class `chart` has a transition, so that a change of the theme is an event.
  element.ontransitionend = () => chart.redraw()
  return () => {
    observer.disconnect()
    chart.destroy()
  }
}

function extentOf(lines: readonly ChartLine[], index: number): { min: number; max: number } {
  const values = lines.flatMap((line) => (line.axis === index ? line.values.map((value) => value ?? 0) : []))
  return { min: Math.min(0, ...values), max: Math.max(0, ...values) }
}

/** Reads the text color of a class inside an element. A canvas does not understand colors that depend on the theme. */
const inkOf = (element: HTMLElement, name: string) => (): string => {
  const sample = document.createElement('i')
  sample.className = name
  element.append(sample)
  const { color } = getComputedStyle(sample)
  sample.remove()
  return color
}
