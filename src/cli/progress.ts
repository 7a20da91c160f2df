import { Presets, SingleBar } from 'cli-progress'
import type { ImportObserver, Tally } from '../import/run.ts'
import type { CommandContext } from './context.ts'

/**
 * Runs an import whose progress is shown on standard error until it ends.
 * @param signal ends the import; by default the first SIGINT or SIGTERM
 */
export async function withProgress<Result>(
  context: CommandContext,
  work: (observer: ImportObserver) => Promise<Result>,
  signal = context.interrupted,
): Promise<Result> {
  const bar = openProgress()
  const onMessage = (line: string) => bar.printAbove(() => context.printStatus(line))
  try {
    return await work({ onMessage, signal, onProgress: bar.show })
  } finally {
    bar.stop()
  }
}

/** Progress display of an import. */
interface Progress {
  /** @param fraction 0 to 1, undefined if unknown */
  show(tally: Readonly<Tally>, fraction: number | undefined): void
  /** Prints a line above the bar. */
  printAbove(write: () => void): void
  stop(): void
}

/** Opens a progress bar if standard error is a terminal, else a display that shows nothing. */
function openProgress(): Progress {
  if (!process.stderr.isTTY) return { show: () => {}, printAbove: (write) => write(), stop: () => {} }
  const bar = new SingleBar(
    { stream: process.stderr, clearOnComplete: true, hideCursor: true, format: formatBar },
    Presets.shades_classic,
  )
  let isStarted = false
  return {
    show({ read, rejected }, fraction) {
      const payload = { read, rejected, isSized: fraction !== undefined }
      if (isStarted) bar.update(Math.round((fraction ?? 0) * barSteps), payload)
      else bar.start(barSteps, 0, payload)
      isStarted = true
    },
    printAbove(write) {
      if (isStarted) process.stderr.write('\r\u001b[K')
      write()
    },
    stop() {
      if (isStarted) bar.stop()
    },
  }
}

const barSteps = 1_000
const barWidth = 40

function formatBar(_options: unknown, { progress }: { progress: number }, payload: BarPayload): string {
  const rejected = payload.rejected > 0 ? `, ${payload.rejected} rejected` : ''
  const rows = `${payload.read} rows${rejected}`
  if (!payload.isSized) return rows
  const done = Math.round(progress * barWidth)
  return `${'█'.repeat(done)}${'░'.repeat(barWidth - done)} ${Math.floor(progress * 100)} % · ${rows}`
}

interface BarPayload {
  read: number
  rejected: number
  isSized: boolean
}
