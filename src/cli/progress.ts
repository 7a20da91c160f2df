import { Presets, SingleBar } from 'cli-progress'
import type { ImportObserver } from '../import/options.ts'
import type { CommandContext } from './context.ts'

type Progress = ImportObserver & { end: () => void }

/**
 * Observes an import. If standard error is a terminal, a bar on it shows the progress until `end` is called.
 * @param signal ends the import; by default the first SIGINT or SIGTERM
 */
export function showProgress(context: CommandContext, signal = context.interrupted): Progress {
  let bar: SingleBar | undefined
  return {
    signal,
    onMessage(line) {
      // The bar draws itself again below the line.
      if (bar?.isActive) process.stderr.write('\r\u001b[K')
      context.printStatus(line)
    },
    onProgress({ read, rejected }, fraction) {
      const payload = { rows: `${read} rows${rejected > 0 ? `, ${rejected} rejected` : ''}` }
      // Never started twice: it ends at a signal, and another start would handle the next signal.
      if (bar) return bar.update(fraction ?? 0, payload)
      const format = fraction === undefined ? '{rows}' : '{bar} {percentage} % · {rows}'
      bar = new SingleBar(
        { stream: process.stderr, clearOnComplete: true, hideCursor: true, format },
        Presets.shades_classic,
      )
      bar.start(1, 0, payload)
    },
    end: () => bar?.stop(),
  }
}
