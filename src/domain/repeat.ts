/**
 * Repeats work in the background until the result is called, never twice at once; the next run makes up for one that
 * fails. The first delay is random, so that processes that start together do not work at the same time.
 *
 * @param within the longest first delay
 */
export function repeat(
  work: (stopped: AbortSignal) => Promise<void>,
  milliseconds: number,
  within: number,
): () => void {
  const stopping = new AbortController()
  let isRunning = false
  const run = async () => {
    if (isRunning) return
    isRunning = true
    await work(stopping.signal).catch(() => {})
    isRunning = false
  }
  const timers = [setTimeout(run, Math.random() * within), setInterval(run, milliseconds)]
  for (const timer of timers) timer.unref()
  return () => {
    stopping.abort()
    for (const timer of timers) clearTimeout(timer)
  }
}
