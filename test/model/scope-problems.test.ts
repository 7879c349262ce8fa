import test from 'ava'
import { computed, group, integer, text } from '../../src/domain/definition.ts'
import { defineResource } from '../../src/model/definition/define-resource.ts'
import type { Field } from '../../src/model/definition/fields.ts'
import { definitionProblems } from '../../src/model/problems/definition-problems.ts'

function problemsOf(fields: Readonly<Record<string, Field>>): string[] {
  const name = text('Name.')
  const resource = defineResource({
    kind: 'collection',
    name: 'Animal',
    path: 'animals',
    description: 'An animal.',
    fields: { name, ...fields },
  })
  return definitionProblems({ resources: [resource] })
}

test('fields of all shapes can need scopes', (t) => {
  const problems = problemsOf({
    weight: integer('Weight.', { readScope: 'medical', index: 'sort' }),
    double: computed('weight * 2', integer('Double.', { readScope: 'medical' })),
    owner: text('Owner.', {
      required: true,
      initially: 'none',
      readScope: 'medical',
      writeScope: 'front-desk',
    }),
    other: text('Other.', { alsoMatches: 'owner', readScope: 'medical' }),
    size: group('Size.', { height: integer('Height.', { readScope: 'size_2' }), width: integer('Width.') }),
    exam: group('Exam.', { result: text('Result.') }, { readScope: 'medical' }),
    set: text('Set by the service.', {
      required: true,
      readOnly: true,
      initially: 'x',
      readScope: 'medical',
    }),
  })
  t.deepEqual(problems, [])
})

test('a scope of a field has a name of its own', (t) => {
  for (const scope of ['read', 'write', '', 'Medical', 'a:b', 'a b', '*'])
    t.deepEqual(problemsOf({ chip: text('Chip.', { writeScope: scope }) }), [
      `animals.chip: ${scope} is not the name of a scope: lower-case letters, digits, "_" and "-", but not read or write`,
    ])
})

test('a required field that needs a scope needs an initial value', (t) => {
  for (const option of ['readScope', 'writeScope'])
    t.deepEqual(problemsOf({ chip: text('Chip.', { required: true, [option]: 'medical' }) }), [
      'animals.chip: it is required and needs a scope, so it needs initially',
    ])
})

test('a field cannot show the values of one that needs another scope', (t) => {
  const weight = integer('Weight.', { readScope: 'medical' })
  const problem = 'it shows the values of weight, which needs a scope'
  t.deepEqual(problemsOf({ weight, double: computed('2*weight', integer('Double.')) }), [
    `animals.double: ${problem}`,
  ])
  t.deepEqual(
    problemsOf({ weight, double: computed('weight + 0', integer('Double.', { readScope: 'other' })) }),
    [`animals.double: ${problem}`],
  )
  t.deepEqual(
    problemsOf({ weight, weight_class: integer('Class.'), sum: computed('weight_class', integer('Sum.')) }),
    [],
  )
  const owner = text('Owner.', { readScope: 'medical' })
  t.deepEqual(problemsOf({ owner, other: text('Other.', { alsoMatches: 'owner' }) }), [
    'animals.other: it shows the values of owner, which needs a scope',
  ])
})

test('a group and its member cannot both need scopes', (t) => {
  const members = { result: text('Result.', { writeScope: 'medical' }) }
  t.deepEqual(problemsOf({ exam: group('Exam.', members, { readScope: 'private' }) }), [
    'animals.exam.result: its group has a scope already',
  ])
})

test('a resource has at most six scopes of fields', (t) => {
  const fieldsWith = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`f${index}`, text('Text.', { readScope: `s${index}` })]),
    )
  t.deepEqual(problemsOf(fieldsWith(6)), [])
  t.deepEqual(problemsOf(fieldsWith(7)), ['animals: its fields need more than 6 different scopes'])
})
