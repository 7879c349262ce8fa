import { clearLine } from 'node:readline'
import type { ImportState } from './import-state.ts'

/** Shows the progress of an import on standard error, if that is a terminal. */
export interface Progress {
  show(state: ImportState): void
  stop(): void
}

const INTERVAL_MILLISECONDS = 200

/** A line with the rows per second of this run and the time left at that rate. */
export function createProgressBar(total: number, begin: ImportState): Progress {
  const { stderr } = process
  if (!stderr.isTTY) return { show() {}, stop() {} }
  const started = performance.now()
  let shown = 0
  let latest = begin
  const write = () => {
    const { rows, refused } = latest
    const rate = (rows - begin.rows) / Math.max((performance.now() - started) / 1000, 0.001)
    const left = rate === 0 ? '' : ` | ${Math.ceil((total - rows) / rate)} s left`
    const percentage = total === 0 ? 100 : Math.floor((100 * rows) / total)
    clearLine(stderr, 0)
    stderr.write(
      `\r${percentage}% | ${rows}/${total} rows | ${Math.round(rate)}/s${left} | ${refused} refused`,
    )
    shown = performance.now()
  }
  write()
  return {
    show(state) {
      latest = state
      if (performance.now() - shown > INTERVAL_MILLISECONDS) write()
    },
    stop() {
      write()
      stderr.write('\n')
    },
  }
}
