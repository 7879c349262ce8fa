import test from 'ava'
import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { Replica, readReplayed, readWritten } from '../../src/database/replicas/replica-watch.ts'

/** A database that responds to each statement in turn with rows, or an error. */
function databaseOf(...responses: (object[] | Error | Promise<never>)[]) {
  const texts: string[] = []
  const $rows = async ({ text }: { text: string }) => {
    texts.push(text)
    const response = await responses.shift()
    if (response instanceof Error) throw response
    return response
  }
  return { database: { client: { $rows } } as unknown as Database, texts }
}

function databaseError(code: string): Error {
  return Object.assign(new pg.DatabaseError('refused', 1, 'error'), { code })
}

test('a server that does not support or allow a function reports no position', async (t) => {
  for (const code of ['0A000', '42501', '42883', '55000'])
    t.is(await readReplayed(databaseOf(databaseError(code)).database), undefined, code)
  for (const code of ['57014', '42601', '142501', '425010'])
    await t.throwsAsync(readReplayed(databaseOf(databaseError(code)).database), { message: 'refused' }, code)
  const broken = databaseOf(new Error('no connection')).database
  await t.throwsAsync(readReplayed(broken), { message: 'no connection' })
})

test('a promoted server has no position, and a position at the beginning is one', async (t) => {
  const promoted = databaseOf([])
  t.is(await readReplayed(promoted.database), undefined)
  t.regex(promoted.texts[0] ?? '', /WHERE pg_is_in_recovery\(\)/)
  t.is(await readReplayed(databaseOf([{ offset: null }]).database), undefined)
  t.is(await readReplayed(databaseOf([{ offset: 0 }]).database), 0)
})

test('a server that does not respond within a second is not waited for', async (t) => {
  // The wait alone does not keep a process running.
  const running = setInterval(() => {}, 60_000)
  t.teardown(() => clearInterval(running))
  const silent = () => databaseOf(new Promise<never>(() => {})).database
  const started = performance.now()
  await t.throwsAsync(readReplayed(silent()), { message: 'no response' })
  t.true(performance.now() - started >= 990)
  t.is(await readWritten(silent()), undefined)
})

test('the position of a primary has the time before it was asked', async (t) => {
  const before = performance.now()
  const written = await readWritten(databaseOf([{ offset: 9 }]).database)
  t.is(written?.offset, 9)
  t.true(written && written.at >= before && written.at <= performance.now())
})

const MINUTE = 60_000
const ALLOWED = { maximumLag: MINUTE, unknownLag: false }

/** A replica that reports these offsets in turn. */
function replicaOf(...offsets: (number | undefined)[]) {
  const rows = offsets.map((offset) => (offset === undefined ? [] : [{ offset }]))
  return new Replica('one', databaseOf(...rows).database)
}

test('the lag of a replica is the time since the primary was at its position', async (t) => {
  const replica = replicaOf(100, 100, 150, 300)
  const ago = (minutes: number, offset: number) => ({ at: performance.now() - minutes * MINUTE, offset })
  const lagAfter = async (written: { at: number; offset: number } | undefined) => {
    await replica.poll(written, ALLOWED)
    return replica.lag === undefined ? undefined : Math.floor(replica.lag / MINUTE)
  }
  t.is(await lagAfter(ago(0, 100)), 0)
  // Until it reaches this position, it lags since the last one that it had.
  t.is(await lagAfter(ago(2, 150)), 0)
  t.is(await lagAfter(ago(0, 300)), 2)
  t.false(replica.isUsable)
  t.is(await lagAfter(ago(0, 300)), 0)
  t.true(replica.isUsable)
})

test('the lag of a replica behind one that succeeded its primary is measured from the new primary', async (t) => {
  const replica = replicaOf(50, 100)
  await replica.poll({ at: performance.now() - 2 * MINUTE, offset: 200 }, ALLOWED)
  t.false(replica.isUsable)
  await replica.poll({ at: performance.now(), offset: 90 }, ALLOWED)
  t.true(replica.isUsable)
})

test('a server that reports no position is usable only where that is allowed, and its lag is unknown', async (t) => {
  const replica = replicaOf(undefined, undefined)
  await replica.poll({ at: performance.now(), offset: 1 }, ALLOWED)
  t.deepEqual([replica.isUsable, replica.lag], [false, undefined])
  await replica.poll({ at: performance.now(), offset: 1 }, { ...ALLOWED, unknownLag: true })
  t.deepEqual([replica.isUsable, replica.lag], [true, undefined])
})

test('a replica that never had a position of its primary is not usable', async (t) => {
  const replica = replicaOf(1)
  await replica.poll({ at: performance.now(), offset: 2 }, { maximumLag: 60 * MINUTE, unknownLag: true })
  t.deepEqual([replica.isUsable, replica.lag], [false, Number.POSITIVE_INFINITY])
})
