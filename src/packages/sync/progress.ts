import { Presets, SingleBar } from 'cli-progress'

/** Opens a progress bar on standard error, which shows itself only on a terminal. */
export function openProgress() {
  const format = '{resource} {bar} {percentage} % · {rows} rows, {perSecond} per second'
  const options = { stream: process.stderr, clearOnComplete: true, hideCursor: true, barsize: 30, format }
  const bar = new SingleBar(options, Presets.shades_classic)
  const startedMs = new Map<string, number>()
  return {
    /** @param fraction of the resource that is done, 0 to 1 */
    show(resource: string, rows: number, fraction: number) {
      const nowMs = performance.now()
      const sinceMs = startedMs.get(resource) ?? nowMs
      startedMs.set(resource, sinceMs)
      const perSecond = rows / Math.max((nowMs - sinceMs) / 1_000, 1)
      const shown = { resource, rows: thousands(rows), perSecond: thousands(perSecond) }
      if (bar.isActive) bar.update(fraction, shown)
      else bar.start(1, fraction, shown)
    },
    stop: () => bar.stop(),
  }
}

function thousands(count: number): string {
  // Not by `toLocaleString`, which loads the data of a locale also when nothing is shown.
  return `${Math.round(count)}`.replaceAll(/\B(?=(\d{3}){1,6}$)/g, ',')
}
