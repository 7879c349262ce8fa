import test from 'ava'
import { unrestricted } from '../../src/model/access/access.ts'
import { filterPasses, passesOf, scansOf } from '../../src/model/query/list.ts'
import type { Filter } from '../../src/model/query/query.ts'
import { resourceAt } from '../helpers/domain/fixtures.ts'

const [species, planets] = [resourceAt('species'), resourceAt('planets')]

const rows = (filter?: Filter) => unrestricted('the cost does not depend on it').rows(planets, filter)
const request = { sorts: [], rows: rows(), take: 20, counted: false }
const condition: Filter = { field: 'name', operator: 'equals', value: 'a' }
const conditions = (count: number): Filter => ({ any: Array(count).fill(condition) })

test('the first 20,000 resources in the order of creation cost no scan, and those after them one', (t) => {
  t.is(passesOf(request), 0)
  t.is(passesOf({ ...request, skip: 20_000 }), 0)
  t.is(passesOf({ ...request, skip: 20_001 }), 1)
})

test('an order or a condition costs a scan, and more than eight conditions more than one', (t) => {
  t.is(passesOf({ ...request, sorts: [{ field: 'name', direction: 'asc' }] }), 1)
  t.is(passesOf({ ...request, rows: rows(condition) }), 1)
  t.is(filterPasses(undefined), 1)
  t.is(filterPasses(conditions(8)), 1)
  t.is(filterPasses(conditions(12)), 1.5)
})

test('a statement also scans the targets of the relations in its filter, unless it scans nothing', (t) => {
  const related: Filter = { column: 'planet_id', target: planets, related: condition }
  t.deepEqual(scansOf(species, 2, { all: [condition, related] }), [
    [species, 2],
    [planets, 1],
  ])
  t.deepEqual(scansOf(species, 1, undefined), [[species, 1]])
  t.deepEqual(scansOf(species, 0, related), [])
})
