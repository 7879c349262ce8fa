import test from 'ava'
import { tableName } from '../../src/model/resource.ts'
import { resources } from '../helpers/domain.ts'
import { shareTestService } from '../helpers/service.ts'

const service = shareTestService(test)

const RESTRICT_VIOLATION = '23001'

test.serial(
  'TRUNCATE, which would restart versions, is refused on every table with the advice to delete',
  async (t) => {
    const { pool } = service().database
    for (const { path } of resources) {
      const table = tableName(path)
      const error = await t.throwsAsync(pool.query(`TRUNCATE ${table} CASCADE`), { code: RESTRICT_VIOLATION })
      t.is((error as { hint?: string }).hint, `Use DELETE FROM ${table}.`)
    }
  },
)

test.serial('after a refused TRUNCATE every row exists, and a DELETE continues its version', async (t) => {
  const { pool } = service().database
  const insert = "INSERT INTO planets (id, name) VALUES ('kept', 'Kept') RETURNING version"
  await pool.query(insert)
  await t.throwsAsync(pool.query('TRUNCATE planets CASCADE'))
  t.is((await pool.query('SELECT FROM planets')).rowCount, 1)
  await pool.query('DELETE FROM planets')
  t.deepEqual((await pool.query(insert)).rows, [{ version: 2 }])
})

test.serial('tombstones cannot be deleted or changed', async (t) => {
  const { pool } = service().database
  await pool.query("INSERT INTO planets (id, name) VALUES ('gone', 'Gone'); DELETE FROM planets")
  for (const table of ['tombstones', 'tombstone_sets']) {
    for (const statement of [
      `DELETE FROM ${table}`,
      `UPDATE ${table} SET version = 0`,
      `TRUNCATE ${table}`,
    ]) {
      await t.throwsAsync(pool.query(statement), { code: RESTRICT_VIOLATION }, statement)
    }
  }
  t.is((await pool.query("SELECT FROM tombstones WHERE id = 'gone'")).rowCount, 1)
})
