import test from 'ava'
import { kindOf, type LeafField } from '../../src/model/definition/fields.ts'
import { madeField } from '../helpers/domain/made-field.ts'
import { claimResults } from '../helpers/service/transcript.ts'

// Each group of kinds.txt has a field as its first action. The others are values: `check` one in a body, `query` one to compare
// with, and `cell` one of a table.

test('each kind of field makes of its options and of values what kinds.txt says', async (t) => {
  await claimResults(t, 'test/model/kinds.txt', async ([code = '', ...values]) => {
    const field = madeField(code)
    const facts = factsOf(field).map(
      ([name, fact]) => `${name} ${fact === undefined ? '–' : JSON.stringify(fact)}`,
    )
    return [...facts, ...values.map((value) => `${value} → ${JSON.stringify(converted(field, value))}`)]
  })
})

function factsOf(field: LeafField): readonly (readonly [string, unknown])[] {
  const kind = kindOf(field)
  return [
    ['problems', kind.problems?.(field)],
    ['column', [kind.columnType + (kind.columnParameters?.(field) ?? ''), kind.dataType]],
    ['prisma', [kind.prismaType, kind.prismaAttribute?.(field)]],
    ['constraint', kind.constraint?.('"c"', field)],
    ['index', [kind.uniqueBy?.('"c"'), kind.indexedBy?.('"c"'), kind.prismaIndex?.('c')]],
    ['operators', kind.operators],
    ['schema', kind.schema(field)],
    ['not blank', kind.notBlank?.(field)],
    ['characters', kind.characters?.(field)],
    ['control', kind.control(field)],
    ['initial choices', kind.choicesAfter?.(field, undefined)],
    ['samples', [1, 2].map((number) => kind.sample(field, 'name', number))],
  ]
}

function converted(field: LeafField, line: string): unknown {
  const [, verb = '', text = ''] = /^(\w+) ?(.*)$/.exec(line) ?? []
  const kind = kindOf(field)
  if (verb === 'query') return kind.fromQuery(field, text)
  return kind.check(field, verb === 'cell' ? (kind.fromCell?.(text) ?? text) : JSON.parse(text))
}
