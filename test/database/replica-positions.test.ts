import test from 'ava'
import pg from 'pg'
import type { Database } from '../../src/database/database.ts'
import { createConsistencyTokens } from '../../src/database/replicas/consistency-token.ts'
import { clusterOf, endOfLog, readWritten, replayedPosition } from '../../src/database/replicas/position.ts'
import { Replica } from '../../src/database/replicas/replica-watch.ts'

const SECRET = 'a secret of thirty-two characters'

test('a token is read by each process with the same secret and cluster, and by no other', (t) => {
  const { issue, read } = createConsistencyTokens(SECRET, '7')
  const position = { timeline: 0xab, offset: 0xfffffffffffff }
  const token = issue(position)
  t.regex(token, /^ab\.fffffffffffff\.[0-9a-f]{8}\.[\w-]{43}$/)
  t.deepEqual(read(token), position)
  t.deepEqual(createConsistencyTokens(SECRET, '7').read(token), position)
  t.is(createConsistencyTokens(SECRET, '8').read(token), 'unknown')
  t.is(createConsistencyTokens(`${SECRET}.`, '7').read(token), 'unknown')
  const forged = token.replace('ab.', 'ac.')
  const malformed = [token.slice(0, -1), `${token}A`, ` ${token}`, token.toUpperCase(), '', 'ab']
  for (const text of [forged, ...malformed]) t.is(read(text), 'unknown', text)
})

test('a token of an earlier hour names no position', (t) => {
  const { issue, read } = createConsistencyTokens(SECRET, '7')
  const { now } = Date
  const issuedAgo = (seconds: number) => {
    Date.now = () => now() - seconds * 1_000
    try {
      return issue({ timeline: 1, offset: 2 })
    } finally {
      Date.now = now
    }
  }
  t.deepEqual(read(issuedAgo(3_590)), { timeline: 1, offset: 2 })
  t.is(read(issuedAgo(3_610)), undefined)
})

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
  for (const code of ['0A000', '42501', '42883', '55000']) {
    t.is(await endOfLog(databaseOf(databaseError(code)).database), undefined, code)
    t.is(await clusterOf(databaseOf(databaseError(code)).database), undefined, code)
  }
  for (const code of ['57014', '42601', '142501', '425010'])
    await t.throwsAsync(endOfLog(databaseOf(databaseError(code)).database), { message: 'refused' }, code)
  await t.throwsAsync(endOfLog(databaseOf(new Error('no connection')).database), { message: 'no connection' })
})

test('a position with an unknown part is unknown', async (t) => {
  t.is(await endOfLog(databaseOf([{ offset: 1, timeline: null }]).database), undefined)
  t.is(await endOfLog(databaseOf([]).database), undefined)
  t.deepEqual(await endOfLog(databaseOf([{ offset: 0, timeline: 1 }]).database), { offset: 0, timeline: 1 })
  t.is(await clusterOf(databaseOf([{ cluster: '7' }]).database), '7')
})

test('a standby without a known timeline reports its offset alone, and a promoted server nothing', async (t) => {
  const unknown = databaseOf([{ offset: 5, timeline: null }], [{ offset: 6 }])
  t.deepEqual(await replayedPosition(unknown.database), { offset: 6 })
  const promoted = databaseOf([], [])
  t.is(await replayedPosition(promoted.database), undefined)
  for (const text of [...unknown.texts, ...promoted.texts]) t.regex(text, /WHERE pg_is_in_recovery\(\)$/)
})

test('a server that does not respond within a second is not waited for', async (t) => {
  // The wait alone does not keep a process running.
  const running = setInterval(() => {}, 60_000)
  t.teardown(() => clearInterval(running))
  const silent = () => databaseOf(new Promise<never>(() => {})).database
  const started = performance.now()
  await t.throwsAsync(endOfLog(silent()), { message: 'no response' })
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
  const rows = offsets.flatMap((offset) => (offset === undefined ? [[], []] : [[{ offset, timeline: 1 }]]))
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

test('simultaneous reads of what a replica has share a statement, and the next one asks again', async (t) => {
  const { database, texts } = databaseOf([{ offset: 1, timeline: 1 }], [{ offset: 2, timeline: 1 }])
  const replica = new Replica('one', database)
  await Promise.all([replica.readReplayed(), replica.readReplayed()])
  t.is(texts.length, 1)
  t.deepEqual(replica.replayed, { offset: 1, timeline: 1 })
  await replica.readReplayed()
  t.deepEqual(replica.replayed, { offset: 2, timeline: 1 })
})
