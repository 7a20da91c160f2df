/** Progress display of a run. */
export interface Progress {
  show(resource: string, rows: number): void
  stop(): void
}

const intervalMs = 100

/** Opens a line with the rows and the rate of a resource if standard error is a terminal, else a display that shows nothing. */
export function openProgress(): Progress {
  if (!process.stderr.isTTY) return { show: () => {}, stop: () => {} }
  const startedMs = new Map<string, number>()
  let shownMs = 0
  return {
    show(resource, rows) {
      const nowMs = performance.now()
      const sinceMs = startedMs.get(resource) ?? nowMs
      startedMs.set(resource, sinceMs)
      if (nowMs - shownMs < intervalMs) return
      shownMs = nowMs
      const rate =
        nowMs > sinceMs ? `, ${Math.round((rows * 1000) / (nowMs - sinceMs)).toLocaleString('en')} per second` : ''
      process.stderr.write(`\r\u001b[K${resource}: ${rows.toLocaleString('en')} rows${rate}`)
    },
    stop() {
      if (shownMs > 0) process.stderr.write('\r\u001b[K')
    },
  }
}
