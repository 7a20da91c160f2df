import uPlot from 'uplot'

export interface ChartLine {
  values: readonly (number | null)[]
  /** The first or the second chosen metric: color and axis. */
  position: 1 | 2
  /** Whether the line is of the previous period: dotted. */
  isPrevious: boolean
}

export interface ChartOptions {
  labels: readonly string[]
  lines: readonly ChartLine[]
  /** Formats the values of an axis. */
  formats: Readonly<Record<1 | 2, (value: number) => string>>
  /** Called with the index of the unit under the pointer; null: none. */
  onHover: (index: number | null) => void
}

const heightPx = 280
const labelWidthPx = 90

/**
 * Draws lines over units of time into an element, as wide as the element, in the colors of its classes `metric-1`, `metric-2`,
 * `axis` and `grid`. It is drawn again when the theme of the system changes.
 * @returns removes the chart
 */
export function drawChart(element: HTMLElement, { labels, lines, formats, onHover }: ChartOptions): () => void {
  const ink = (name: string) => () => inkOf(element, name)
  const font = `12px ${getComputedStyle(element).fontFamily}`
  const axis = (position: 1 | 2): uPlot.Axis => ({
    scale: `${position}`,
    side: position === 1 ? 3 : 1,
    stroke: ink(`metric-${position}`),
    font,
    size: 64,
    grid: { show: position === 1, stroke: ink('grid'), width: 1 },
    ticks: { show: false },
    values: (_chart, values) => values.map(formats[position]),
  })
  const options: uPlot.Options = {
    width: element.clientWidth,
    height: heightPx,
    padding: [12, 8, 0, 8],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 8 } },
    scales: {
      x: { time: false, range: [0, Math.max(1, labels.length - 1)] },
      1: { range: axisRange },
      2: { range: axisRange },
    },
    axes: [
      {
        stroke: ink('axis'),
        font,
        grid: { show: false },
        ticks: { show: false },
        space: labelWidthPx,
        // Whole units only.
        incrs: [1, 2, 3, 4, 6, 7, 12, 14, 24, 28, 48, 72, 168, 336],
        values: (_chart, values) => values.map((index) => labels[index] ?? ''),
      },
      axis(1),
      axis(2),
    ],
    series: [
      {},
      ...lines.map(
        ({ position, isPrevious }): uPlot.Series => ({
          scale: `${position}`,
          stroke: ink(`metric-${position}`),
          width: isPrevious ? 1.5 : 2,
          ...(isPrevious && { dash: [2, 5] }),
          points: { show: labels.length < 3 && !isPrevious },
        }),
      ),
    ],
    hooks: { setCursor: [({ cursor }) => onHover(cursor.idx ?? null)] },
  }
  const data = [labels.map((_, index) => index), ...lines.map(({ values }) => [...values])] as uPlot.AlignedData
  const chart = new uPlot(options, data, element)
  const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: heightPx }))
  observer.observe(element)
  const theme = matchMedia('(prefers-color-scheme: dark)')
  const redraw = () => chart.redraw()
  theme.addEventListener('change', redraw)
  return () => {
    theme.removeEventListener('change', redraw)
    observer.disconnect()
    chart.destroy()
  }
}

/** An axis always has zero, so that heights can be compared. */
function axisRange(_chart: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  if (min === null || max === null) return [0, 1]
  const [low, high] = [Math.min(0, min), Math.max(0, max)]
  const margin = (high - low || 1) * 0.06
  return [low < 0 ? low - margin : 0, high + margin]
}

/** The text color of a class inside an element. A canvas does not understand colors that depend on the theme. */
function inkOf(element: HTMLElement, name: string): string {
  const sample = document.createElement('i')
  sample.className = name
  element.append(sample)
  const { color } = getComputedStyle(sample)
  sample.remove()
  return color
}
