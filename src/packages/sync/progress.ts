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
  const bar = new SingleBar(
    { stream: process.stderr, clearOnComplete: true, hideCursor: true, format: formatBar },
    Presets.shades_classic,
  )
  const startedMs = new Map<string, number>()
  let isStarted = false
  return {
    show(resource, rows, fraction) {
      const nowMs = performance.now()
      const sinceMs = startedMs.get(resource) ?? nowMs
      startedMs.set(resource, sinceMs)
      const payload: BarPayload = { resource, rows, perSecond: rows / Math.max((nowMs - sinceMs) / 1_000, 1) }
      // At the total the bar would end.
      const steps = Math.min(Math.floor(fraction * barSteps), barSteps - 1)
      if (isStarted) bar.update(steps, payload)
      else bar.start(barSteps, steps, payload)
      isStarted = true
    },
    stop() {
      if (isStarted) bar.stop()
    },
  }
}

const barSteps = 1_000
const barWidth = 30

interface BarPayload {
  resource: string
  rows: number
  perSecond: number
}

function formatBar(_options: unknown, { progress }: { progress: number }, bar: BarPayload): string {
  const done = Math.round(progress * barWidth)
  const drawn = `${'█'.repeat(done)}${'░'.repeat(barWidth - done)} ${Math.floor(progress * 100)} %`
  return `${bar.resource} ${drawn} · ${thousands(bar.rows)} rows, ${thousands(bar.perSecond)} per second`
}

function thousands(count: number): string {
  return Math.round(count).toLocaleString('en')
}
