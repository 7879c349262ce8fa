import test from 'ava'
import type pg from 'pg'
import { kindOf, type LeafField } from '../../src/model/definition/fields.ts'
import { type Leaf, type Resource, tableName } from '../../src/model/definition/resource.ts'
import { resources } from '../helpers/domain/domain.ts'
import { sampleValue } from '../helpers/domain/sample-value.ts'
import { shareTestService } from '../helpers/service/service.ts'

/** check_violation; the type of an integer, or the foreign key of a reference, may refuse it before. */
const REFUSALS = ['23514', '22003', '23503']

const BLANKS = '\t\n\v\f\r \u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\u2800\u{e0100}'

interface Cases {
  readonly inside: readonly unknown[]
  readonly outside: readonly unknown[]
  /** Also outside, though JSON or a Date could not say it. */
  readonly unsayable?: readonly string[]
}

const fractions = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`gas ${index}`, 0]))

function casesOf(field: LeafField): Cases {
  switch (field.type) {
    case 'text':
      if (field.format) return { inside: [kindOf(field).sample(field, 'x', 1)], outside: ['x'] }
      return { inside: ['𝔁'.repeat(field.maximumLength)], outside: ['x'.repeat(field.maximumLength + 1)] }
    case 'reference':
      return { inside: [], outside: ['x'.repeat(501)] }
    case 'enumeration':
      return { inside: field.values, outside: ['other', ''] }
    case 'number':
    case 'integer': {
      const { minimum, maximum } = field
      const inside = [minimum ?? -1, maximum ?? 1]
      const outside = [(minimum ?? Number.NaN) - 1, (maximum ?? Number.NaN) + 1]
      const unsayable = field.type === 'number' ? ['NaN', 'Infinity', '-Infinity'] : []
      return { inside, outside: outside.filter(Number.isFinite), unsayable }
    }
    case 'timestamp':
      return {
        inside: ['0001-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z'],
        outside: [],
        unsayable: ['0001-12-31 23:59:59.999+00 BC', '10000-01-01 00:00:00+00', 'infinity', '-infinity'],
      }
    case 'date':
      return {
        inside: ['0001-01-01', '9999-12-31'],
        outside: [],
        unsayable: ['0001-12-31 BC', '10000-01-01', 'infinity', '-infinity'],
      }
    case 'fractions':
      return {
        inside: [{}, fractions(100), { ['x'.repeat(100)]: 1 }],
        outside: [
          fractions(101),
          { ['x'.repeat(101)]: 0 },
          { gas: -0.1 },
          { gas: '0.1' },
          { gas: {} },
          [0.1],
        ],
        unsayable: ['{"gas": 1e400}', '{"gas": null}', '"gas"', 'null'],
      }
    case 'list': {
      const { item } = field
      const one = item.type === 'text' ? 'item' : kindOf(item).sample(item, 'x', 1)
      const items = (count: number) =>
        Array.from({ length: count }, (_, index) => (field.distinct ? `${one} ${index}` : one))
      return {
        inside: [[], items(field.maximum)],
        outside: [
          items(field.maximum + 1),
          [one, typeof one === 'string' ? 1 : 'x'],
          [[one]],
          { x: one },
          ...(item.type === 'enumeration' || item.type === 'date' ? [['other']] : []),
        ],
        unsayable: ['[null]', '{}', 'null', '1', '"x"'],
      }
    }
    case 'decimal': {
      const { precision, scale, minimum, maximum } = field
      const greatest = maximum ?? `${'9'.repeat(precision - scale)}.${'9'.repeat(scale)}`
      const outside = [
        ...(minimum === undefined ? [] : [String(minimum - 1)]),
        `1${'0'.repeat(precision - scale)}`,
      ]
      return {
        inside: [String(minimum ?? `-${greatest}`), String(greatest)],
        outside,
        unsayable: ['NaN', 'Infinity'],
      }
    }
    case 'json': {
      const { maximumBytes } = field
      const inside = [0, [], {}, 'x'.repeat(maximumBytes - 2), [Number.MAX_VALUE], -Number.MAX_VALUE]
      return { inside, outside: [] }
    }
    case 'boolean':
      return { inside: [true, false], outside: [] }
  }
}

const service = shareTestService(test)

test.serial.before(async () => {
  for (const resource of resources.filter(({ path }) => isReferredTo(path))) {
    const row = { ...minimalRow(resource, 2), id: 'one' }
    await service().database.pool.query(insertion(resource, row), Object.values(row))
  }
})

for (const resource of resources) {
  test.serial(
    `${resource.path}: the table accepts values just within each bound, and refuses values beyond it`,
    async (t) => {
      t.is(await refusal(resource), undefined)
      for (const leaf of resource.leaves) {
        // The database computes these and hidden columns itself.
        const { hidden, computed } = leaf.field
        if (['id', resource.parentField].includes(leaf.name) || hidden || computed) continue
        const { inside, outside, unsayable = [] } = casesOf(leaf.field)
        for (const value of inside) {
          t.true(
            'value' in kindOf(leaf.field).check(leaf.field, value),
            `${leaf.name} ${JSON.stringify(value)}`,
          )
          const problem = await refusal(resource, leaf, value)
          t.is(problem, undefined, `${leaf.name} ${JSON.stringify(value)}`)
        }
        const blanks = leaf.field.required && leaf.field.type === 'text' ? ['', ...BLANKS, BLANKS] : []
        for (const value of outside) {
          t.false(
            'value' in kindOf(leaf.field).check(leaf.field, value),
            `${leaf.name} ${JSON.stringify(value)}`,
          )
        }
        for (const value of [...outside, ...blanks, ...unsayable]) {
          const problem = await refusal(resource, leaf, value)
          t.true(REFUSALS.includes(problem ?? ''), `${leaf.name} ${JSON.stringify(value)}: ${problem}`)
        }
      }
    },
  )
}

/** The SQLSTATE with which a row with this value is refused, or undefined. Rolls back. */
async function refusal(resource: Resource, leaf?: Leaf, value?: unknown) {
  const columns = { ...minimalRow(resource), ...(leaf && { [leaf.column]: storable(leaf, value) }) }
  const client = await service().database.pool.connect()
  await client.query('BEGIN')
  try {
    await client.query(insertion(resource, columns), Object.values(columns))
    return undefined
  } catch (error) {
    return (error as pg.DatabaseError).code
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
}

function insertion({ path }: Resource, row: Record<string, unknown>): string {
  const names = Object.keys(row)
  return `INSERT INTO ${tableName(path)} (${names.map((name) => `"${name}"`).join(', ')})
    VALUES (${names.map((_, index) => `$${index + 1}`).join(', ')})`
}

/** Whether rows need one of this collection: their parent, or the target of a required reference. */
function isReferredTo(path: string): boolean {
  return resources.some(
    ({ owner, leaves }) =>
      owner?.path === path ||
      leaves.some(({ field }) => field.type === 'reference' && field.required && field.to === path),
  )
}

function minimalRow(resource: Resource, number = 1): Record<string, unknown> {
  const required = resource.leaves.filter(
    ({ field }) => (field.required && !field.readOnly) || field.initially !== undefined,
  )
  const values = required.map(({ column, field, name }, index) => [
    column,
    field.type === 'reference' ? 'one' : (field.initially ?? sampleValue(field, name, number, index)),
  ])
  return { id: 'one', ...Object.fromEntries(values), ...owner(resource), ...fresh(resource) }
}

const owner = ({ parentField }: Resource) => (parentField ? { [parentField]: 'one' } : {})

/** The tables that others refer to have a row. */
const fresh = ({ owner: parent }: Resource) => (parent ? {} : { id: 'new' })

function storable({ field }: Leaf, value: unknown): unknown {
  if (field.type === 'json') return JSON.stringify(value)
  return kindOf(field).isJson && typeof value !== 'string' ? JSON.stringify(value) : value
}
