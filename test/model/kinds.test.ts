import test from 'ava'
import { kindOf, type LeafField } from '../../src/model/definition/fields.ts'
import { madeField } from '../helpers/domain/made-field.ts'
import { claimResults } from '../helpers/service/transcript.ts'

// Each group of kinds.txt has a field as its first action. The others are values, with ` | ` between those of one verb:
// `check` one in a body, `query` one to compare with, `cell` one of a table, `stored` a text from the database, `shown` a value
// from before the definition, `compare` two values as they are stored, and `holds` one to compare with and a stored one.

test('each kind of field makes of its options and of values what kinds.txt says', async (t) => {
  await claimResults(t, 'test/model/kinds.txt', async ([code = '', ...actions]) => {
    const field = madeField(code)
    const values = actions.flatMap((action) => {
      const [verb] = action.split(' ')
      return action.split(' | ').map((value, index) => (index === 0 ? value : `${verb} ${value}`))
    })
    const facts = factsOf(field).map(
      ([name, fact]) => `${name} ${fact === undefined ? '–' : JSON.stringify(fact)}`,
    )
    return [...facts, ...values.map((value) => `${value} → ${JSON.stringify(converted(field, value))}`)]
  })
})

const FLAGS = [
  'isUnordered',
  'isRarelyShared',
  'isTimed',
  'isMeasurable',
  'isExact',
  'hasFewValues',
  'isJson',
  'isText',
  'isFreeText',
] as const

function factsOf(field: LeafField): readonly (readonly [string, unknown])[] {
  const kind = kindOf(field)
  const problems = kind.problems?.(field)
  // No domain with a problem is served.
  if (problems && problems.length > 0) return [['problems', problems]]
  const patterns = [kind.schema(field)['pattern'], kind.control(field).regex]
  // Validators of JSON Schema and browsers set these flags.
  for (const pattern of patterns) for (const flag of ['u', 'v']) new RegExp(`${pattern}`, flag)
  return [
    ['problems', problems],
    ['column', [kind.columnType + (kind.columnParameters?.(field) ?? ''), kind.dataType]],
    ['prisma', [kind.prismaType, kind.prismaAttribute?.(field)]],
    ['constraint', kind.constraint?.('"c"', field)],
    ['index', [kind.uniqueBy?.('"c"'), kind.indexedBy?.('"c"'), kind.prismaIndex?.('c')]],
    ['operators', [kind.operators, kind.contains?.('"c"', '$1')]],
    ['scalar', kind.scalar],
    ['is', FLAGS.filter((flag) => kind[flag])],
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
  const values = () => JSON.parse(`[${text}]`) as [never, never]
  switch (verb) {
    case 'query':
      return kind.fromQuery(field, text)
    case 'stored': {
      const stored = kind.fromDatabase?.(text) ?? text
      return kind.toJson?.(stored as never) ?? `${stored}`
    }
    case 'shown':
      return kind.shown?.(field, values()[0])
    case 'compare':
      return kind.compare?.(...values())
    case 'holds':
      return [kind.operand?.(field, values()[0]), kind.holds?.(field, values()[0])(values()[1])]
  }
  return kind.check(field, verb === 'cell' ? (kind.fromCell?.(text) ?? text) : JSON.parse(text))
}
