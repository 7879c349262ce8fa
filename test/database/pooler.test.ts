import test from 'ava'
import pg from 'pg'
import { sendPreceded, sendSetUp } from '../../src/database/pooler.ts'

/** What the driver has, and its types do not declare. */
declare module 'pg' {
  interface Query {
    handleError(error: Error): void
  }
}

const CANCELLED = '57014'
const NOT_PERMITTED = '42501'

const errorWith = (code: string) => Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code })

test('a statement is sent again only if one of those before it was cancelled, and a hundred times at most', async (t) => {
  for (const [code, completed, expected] of [
    [CANCELLED, 0, 100],
    [CANCELLED, 1, 100],
    [CANCELLED, 2, 1],
    [NOT_PERMITTED, 0, 1],
  ] as const) {
    let sent = 0
    const fail = (statement: pg.Query) => {
      sent++
      const connection = {} as pg.Connection
      for (let count = 0; count < completed; count++) statement.handleCommandComplete({}, connection)
      statement.handleError(errorWith(code))
    }
    await t.throwsAsync(sendPreceded(fail, { text: 'SELECT 1' }, ['BEGIN', 'SET LOCAL lock_timeout = 1']), {
      code,
    })
    t.is(sent, expected, `${code} after ${completed}`)
  }
})

test('a set-up that was cancelled is repeated, also inside its transaction, and one that was refused is not', async (t) => {
  for (const [code, expected] of [
    [CANCELLED, ['BEGIN', ...Array(99).fill('ROLLBACK;BEGIN')]],
    [NOT_PERMITTED, ['BEGIN']],
  ] as const) {
    const sent: string[] = []
    const fail = async (text: string) => {
      sent.push(text)
      throw errorWith(code)
    }
    await t.throwsAsync(sendSetUp(fail, 'BEGIN'), { code })
    t.deepEqual(sent, expected)
  }
})
