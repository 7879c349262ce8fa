import test from 'ava'
import { allRows } from '../../src/domain/read.ts'
import { resourceAt } from '../helpers/domain/fixtures.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test)

async function keysOf(path: string): Promise<string[]> {
  const keys: string[] = []
  for await (const row of allRows(service().database.client, resourceAt(path)))
    keys.push([row['planet_id'], row.id].filter(Boolean).join('/'))
  return keys
}

/** The numbers as texts of equal length, which have the same order. */
const numbers = (count: number) => Array.from({ length: count }, (_, index) => `n${1_000 + index}`)

test('all rows are read once and in order, however many pages they take', async (t) => {
  const { pool } = service().database
  const row = "'n' || 999 + number, 'Name ' || number"
  await pool.query(`INSERT INTO planets (id, name) SELECT ${row} FROM generate_series(1, 1000) AS number`)
  t.deepEqual(await keysOf('planets'), numbers(1_000))

  const counts = { n1002: 300, n1000: 700, n1001: 499 }
  for (const [planet, count] of Object.entries(counts))
    await pool.query(
      `INSERT INTO moons (planet_id, id, name) SELECT '${planet}', ${row} FROM generate_series(1, ${count}) AS number`,
    )
  const moons = (planet: keyof typeof counts) => numbers(counts[planet]).map((id) => `${planet}/${id}`)
  t.deepEqual(await keysOf('moons'), [...moons('n1000'), ...moons('n1001'), ...moons('n1002')])
  t.deepEqual(await keysOf('spacecraft'), [])
})
