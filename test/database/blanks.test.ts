import test from 'ava'
import { isBlank } from '../../src/model/values.ts'
import { createTestDatabase, openTestDatabase } from '../helpers/database/database.ts'

/** All code points that have a property of blanks, or are near one that has. */
const CODE_POINTS = Array.from({ length: 0x20_000 }, (_, index) => index + 1)
  .concat(Array.from({ length: 0x2_000 }, (_, index) => index + 0xe_0000))
  .filter((code) => code < 0xd800 || code > 0xdfff)

const LIKELY = /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Z}\u2800\u3164\uffa0\u{1d159}]/u

test('the service and the database have the same notion of blank, over all of Unicode', async (t) => {
  const database = await openTestDatabase(await createTestDatabase(t))
  t.teardown(database.close)
  const expected = CODE_POINTS.filter((code) => isBlank(String.fromCodePoint(code)))
  t.deepEqual(
    CODE_POINTS.filter((code) => LIKELY.test(String.fromCodePoint(code)) && !expected.includes(code)),
    [],
  )
  t.true(expected.length > 4_000)
  const { rows } = await database.pool.query<{ code: number; blank: boolean; folded: boolean }>(
    `SELECT code, is_blank(chr(code)) AS blank, folded(chr(code) || 'x y' || chr(code)) = 'x y' AS folded
     FROM unnest($1::int[]) AS code WHERE is_blank(chr(code)) OR folded(chr(code) || 'x y' || chr(code)) = 'x y'`,
    [CODE_POINTS],
  )
  t.deepEqual(
    rows.map(({ code, blank, folded }) => (blank && folded ? code : `${code} ${blank} ${folded}`)),
    expected,
  )
  const { rows: texts } =
    await database.pool.query(`SELECT folded('') AS none, folded(E'\\t\\u2003') AS blank,
    folded(E'\\u200b Ärger\\u00a0\\n \\u2800Ende\\ufe0f') AS folded`)
  t.deepEqual(texts, [{ none: '', blank: '', folded: 'ärger\u00a0\n \u2800ende' }])
})
