import test from 'ava'
import { requestKey } from '../../src/domain/session/shared-reads.ts'
import { resourceAt } from '../helpers/domain/fixtures.ts'

const [planets, moons] = [resourceAt('planets'), resourceAt('moons')]

const related = (target: typeof planets, value: unknown) => ({
  sorts: [],
  take: 2,
  counted: true,
  filter: { column: 'planet_id', target, related: { field: 'name', operator: 'equals', value } },
})

test('requests have the same key if they are equal, whatever their resource is related to', (t) => {
  t.is(requestKey('species', related(planets, 'x')), requestKey('species', related(planets, 'x')))
  t.true(requestKey(related(planets, 'x')).length < 200)
})

test('requests that differ anywhere have different keys', (t) => {
  const values = [
    'x',
    'y',
    '',
    null,
    undefined,
    0,
    1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true,
    ['x'],
    ['x', 'y'],
  ]
  const requests = [
    ...values.map((value) => related(planets, value)),
    related(moons, 'x'),
    { ...related(planets, 'x'), take: 3 },
  ]
  const keys = requests.map((request) => requestKey('species', request))
  t.is(new Set([...keys, requestKey('planets', requests[0])]).size, requests.length + 1)
})

test('a request with a value that no text can stand for is a fault', (t) => {
  for (const value of [() => 'x', Symbol('x'), 1n]) {
    t.throws(() => requestKey(related(planets, value)), { instanceOf: TypeError })
  }
})
