import { clearLine } from 'node:readline'
import type { ImportState } from './import-state.ts'

const INTERVAL_MILLISECONDS = 200

/** Shows the progress of an import on standard error, if that is a terminal: rows, rate, and the time left. */
export function createProgressBar(total: number, begin: ImportState) {
  const { stderr } = process
  const started = performance.now()
  let shown = Number.NEGATIVE_INFINITY
  const show = ({ rows, refused }: ImportState) => {
    const now = performance.now()
    if (!stderr.isTTY || (now - shown < INTERVAL_MILLISECONDS && rows < total)) return
    shown = now
    const rate = (rows - begin.rows) / Math.max((now - started) / 1000, 0.001)
    const left = rate === 0 ? '' : ` | ${Math.ceil((total - rows) / rate)} s left`
    const percentage = total === 0 ? 100 : Math.floor((100 * rows) / total)
    clearLine(stderr, 0)
    stderr.write(
      `\r${percentage}% | ${rows}/${total} rows | ${Math.round(rate)}/s${left} | ${refused} refused`,
    )
  }
  return { show, stop: () => stderr.isTTY && stderr.write('\n') }
}
