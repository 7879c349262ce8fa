/** A statement that changes or deletes this many rows ends long before its timeout. */
export const BATCH_SIZE = 1_000

/**
 * Repeats work in the background until the result is called, never twice at once. Errors are ignored, because the next run
 * makes up for them. The first delay is random, up to `within`, so that processes that start together do not coincide.
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
