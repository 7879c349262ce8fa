import { setTimeout as delay } from 'node:timers/promises'

interface Answer {
  readonly status: number
}

/**
 * Repeats a request until it is answered with a status: a service with a short timeout may refuse the first ones on a
 * busy machine. Resolves to the last answer, also if it never has that status.
 */
export async function untilStatus<Result extends Answer>(
  status: number,
  request: () => Promise<Result>,
): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    const answer = await request()
    if (answer.status === status || attempt === 200) return answer
    await delay(50)
  }
}
