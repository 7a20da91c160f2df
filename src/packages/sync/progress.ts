import { Presets, SingleBar } from 'cli-progress'

/** Progress display of a run. */
export interface Progress {
  /** @param fraction of the resource that is done, 0 to 1 */
  show(resource: string, rows: number, fraction: number): void
  stop(): void
}

/** Opens a progress bar on standard error if that is a terminal, else a display that shows nothing. */
export function openProgress(): Progress {
  if (!process.stderr.isTTY) return { show: () => {}, stop: () => {} }
  const format = '{resource} {bar} {percentage} % · {rows} rows, {perSecond} per second'
  const options = { stream: process.stderr, clearOnComplete: true, hideCursor: true, barsize: 30, format }
  const bar = new SingleBar(options, Presets.shades_classic)
  const startedMs = new Map<string, number>()
  let isStarted = false
  return {
    show(resource, rows, fraction) {
      const nowMs = performance.now()
      const sinceMs = startedMs.get(resource) ?? nowMs
      startedMs.set(resource, sinceMs)
      const perSecond = rows / Math.max((nowMs - sinceMs) / 1_000, 1)
      const shown = { resource, rows: thousands(rows), perSecond: thousands(perSecond) }
      if (isStarted) bar.update(fraction, shown)
      else bar.start(1, fraction, shown)
      isStarted = true
    },
    stop() {
      if (isStarted) bar.stop()
    },
  }
}

function thousands(count: number): string {
  return Math.round(count).toLocaleString('en')
}
