import test from 'ava'
import { boolean, group, number, text, timestamp } from '../../src/domain/definition.ts'
import { defineResource } from '../../src/model/definition/define-resource.ts'
import type { Values } from '../../src/model/definition/resource.ts'
import type { DomainError } from '../../src/model/errors.ts'
import { inspectPatch, inspectResource, refuseReadOnlyChanges } from '../../src/model/validate.ts'

const probe = defineResource({
  kind: 'collection',
  name: 'Probe',
  path: 'probes',
  description: '',
  fields: {
    name: text('', { required: true }),
    size: group('', { width: number(''), height: number('', { minimum: 0 }) }),
    active: boolean(''),
    launched: timestamp(''),
    state: text('', { readOnly: true }),
    secret: text('', { hidden: true }),
  },
})

const codes = (details: readonly { field: string; code: string }[]) =>
  details.map(({ field, code }) => `${field} ${code}`)

test('a whole resource: valid values are returned, null counts as unset, only timestamps are converted', (t) => {
  const body = { name: 'a', size: { width: 1, height: null }, active: null, launched: '2031-04-05' }
  const { values, details, readOnly } = inspectResource(probe, body)
  t.deepEqual(values, { name: 'a', size: { width: 1 }, launched: new Date('2031-04-05T00:00:00Z') })
  t.deepEqual([details, readOnly], [[], {}])
})

test('all problems are reported, each once, in the order of the fields', (t) => {
  const { details } = inspectResource(probe, {
    zzz: 1,
    launched: 'x',
    active: 0,
    size: { depth: 1, height: -1, width: '1' },
  })
  t.deepEqual(codes(details), [
    'name REQUIRED_FIELD',
    'size.width INVALID_TYPE',
    'size.height OUT_OF_RANGE',
    'active INVALID_TYPE',
    'launched INVALID_FORMAT',
    'zzz UNKNOWN_FIELD',
    'size.depth UNKNOWN_FIELD',
  ])
  t.deepEqual(codes(inspectResource(probe, { name: 5 }).details), ['name INVALID_TYPE'])
})

test('read-only fields are returned separately, hidden ones are unknown, HAL members are ignored', (t) => {
  const { values, readOnly, details } = inspectResource(probe, {
    name: 'a',
    id: 5,
    state: {},
    last_updated: 'x',
    secret: 's',
    _links: 1,
    _embedded: [],
  })
  t.deepEqual(values, { name: 'a' })
  t.deepEqual(readOnly, { id: 5, state: {}, last_updated: 'x' })
  t.deepEqual(codes(details), ['secret UNKNOWN_FIELD'])
})

test('null for a read-only field is unset in a whole resource, and a removal in a patch', (t) => {
  t.deepEqual(inspectResource(probe, { name: 'a', id: null, state: null }).readOnly, {})
  t.deepEqual(inspectPatch(probe, { id: null, state: null }).readOnly, { id: null, state: null })
})

test('read-only members of a group are compared with the stored ones, and named by their paths', (t) => {
  const measured = defineResource({
    ...probe,
    fields: { size: group('', { width: number(''), depth: number('', { readOnly: true }) }) },
  })
  t.deepEqual(Object.keys(measured.writableFields), ['size'])
  const changes = (size: Values, stored: Values) => {
    const { values, readOnly, details } = inspectPatch(measured, { size })
    t.deepEqual([values, details], [{ size: { width: 1 } }, []])
    const error = t.throws<DomainError>(() => refuseReadOnlyChanges(measured, readOnly, stored))
    return codes(error.details)
  }
  t.deepEqual(changes({ width: 1, depth: 2 }, { size: { depth: 3 } }), ['size.depth READ_ONLY_FIELD'])
  t.deepEqual(changes({ width: 1, depth: 2 }, {}), ['size.depth READ_ONLY_FIELD'])
  t.deepEqual(changes({ width: 1, depth: null }, { size: { depth: 3 } }), ['size.depth READ_ONLY_FIELD'])
  for (const [size, stored] of [
    [{ width: 1, depth: 3 }, { size: { depth: 3 } }],
    [{ width: 1, depth: null }, { size: { width: 1 } }],
    [{ width: 1 }, { size: { depth: 3 } }],
    [null, { size: { depth: 3 } }],
    ['deep', { size: { depth: 3 } }],
  ]) {
    refuseReadOnlyChanges(measured, inspectPatch(measured, { size }).readOnly, stored as Values)
  }
})

test('in a patch no field is required and null is kept', (t) => {
  const { values, details } = inspectPatch(probe, { name: null, size: { width: null }, active: null })
  t.deepEqual(values, { name: null, size: { width: null }, active: null })
  t.deepEqual(details, [])
})

test('a body that is not an object has one problem', (t) => {
  for (const body of [undefined, null, [], 'x', 1, true]) {
    for (const inspect of [inspectResource, inspectPatch])
      t.deepEqual(codes(inspect(probe, body).details), [' INVALID_TYPE'])
  }
})
