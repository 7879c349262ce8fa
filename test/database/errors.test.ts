import test from 'ava'
import pg from 'pg'
import { isNotReachedYet } from '../../src/database/errors.ts'

const refusal = (code: string) => Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code })
const failedCall = () => Object.assign(new Error('connect ECONNREFUSED'), { syscall: 'connect' })

test('a server that is starting, full or not there may accept a connection later; one that refuses it will not', (t) => {
  for (const code of ['57P03', '57P01', '53300', '08006']) t.true(isNotReachedYet(refusal(code)), code)
  for (const code of ['28P01', '3D000', '42501', '57014']) t.false(isNotReachedYet(refusal(code)), code)
  t.true(isNotReachedYet(failedCall()))
  t.true(isNotReachedYet(new AggregateError([refusal('28P01'), failedCall()])))
  t.false(isNotReachedYet(new AggregateError([refusal('28P01')])))
  t.true(isNotReachedYet(new Error('timeout expired')))
  t.true(isNotReachedYet(new Error('Connection terminated unexpectedly')))
  t.false(isNotReachedYet(new Error('The server does not support SSL connections')))
})
