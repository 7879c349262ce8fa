import { setTimeout as delay } from 'node:timers/promises'

/** On a busy machine, thousands of requests take more than a minute. */
const MOST_MILLISECONDS = 240_000

/** Waits until something holds that happens in the background. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + MOST_MILLISECONDS
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('This never held.')
    await delay(20)
  }
}
