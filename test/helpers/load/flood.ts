import type { TestDatabase } from '../database/database.ts'
import type { Answer } from '../service/client.ts'

/** Sends requests for species at once, which wait for the table until one of them is refused. */
export async function flood(
  { pool }: Pick<TestDatabase, 'pool'>,
  count: number,
  send: () => Promise<Answer>,
): Promise<Answer[]> {
  const lock = await pool.connect()
  await lock.query('BEGIN; LOCK TABLE species')
  const answers = Array.from({ length: count }, send)
  const refused = answers.map(async (answer) => ((await answer).status === 503 ? answer : Promise.reject()))
  await Promise.any(refused)
  await lock.query('ROLLBACK')
  lock.release()
  return Promise.all(answers)
}
