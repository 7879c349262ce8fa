import progress from 'cli-progress'
import type { ImportState } from './import-state.ts'

/** Shows the progress of an import on standard error, if that is a terminal. */
export interface Progress {
  show(state: ImportState): void
  stop(): void
}

/** A bar with the rows per second of this run and the time left at that rate. */
export function createProgressBar(total: number, begin: ImportState): Progress {
  const started = performance.now()
  const bar = new progress.SingleBar({
    format:
      '{bar} {percentage}% | {value}/{total} rows | {rate}/s | {eta_formatted} left | {refused} refused',
    hideCursor: true,
    clearOnComplete: false,
    stream: process.stderr,
    fps: 5,
    // Otherwise it stops at 100 %, before the last rows are saved.
    stopOnComplete: false,
  })
  const payload = (state: ImportState) => {
    const seconds = (performance.now() - started) / 1000
    const rate = (state.rows - begin.rows) / Math.max(seconds, 0.001)
    return { rate: Math.round(rate), refused: state.refused }
  }
  bar.start(total, begin.rows, payload(begin))
  return {
    show: (state) => bar.update(state.rows, payload(state)),
    stop: () => bar.stop(),
  }
}
