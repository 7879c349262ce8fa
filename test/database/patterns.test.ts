import test from 'ava'
import pg from 'pg'
import { text } from '../../src/domain/definition.ts'
import { kindOf } from '../../src/model/definition/fields.ts'
import { ecmaPattern, FORMATS, matchesPattern, patternProblem } from '../../src/model/kinds/pattern.ts'
import { createEmptyDatabase } from '../helpers/database/database.ts'
import { fc } from '../helpers/process/run.ts'

const CHARACTERS = ['a', 'b', 'B', '1', '-', '.', ' ', '\n', 'é', '🌍', '\\', '*']

const literal = fc.constantFrom('a', 'b', '1', '-', ' ', 'é', '🌍', '\\.', '\\*', '\\\\')
const inClass = fc.constantFrom(
  ...['a', 'b', '1', 'a-z', '0-9', '.', '\\-', 'é', '🌍', '\\]', '\\\\'],
  ...['.', '\\.', '!-.', '|', '/', '(-*', ')', '{', '&', '*', '\\*'],
)
const someClass = fc
  .tuple(fc.constantFrom('', '^'), fc.array(inClass, { minLength: 1, maxLength: 3 }))
  .map(([not, members]) => `[${not}${members.join('')}]`)

const patterns = fc.letrec<{ pattern: string; branch: string; piece: string }>((tie) => ({
  piece: fc
    .tuple(
      fc.oneof(
        { depthSize: 'small' },
        literal,
        someClass,
        tie('pattern').map((inner) => `(${inner})`),
      ),
      fc.constantFrom('', '', '?', '*', '+', '{2}', '{1,}', '{0,3}'),
    )
    .map(([atom, times]) => atom + times),
  branch: fc.array(tie('piece'), { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')),
  pattern: fc.array(tie('branch'), { minLength: 1, maxLength: 2 }).map((branches) => branches.join('|')),
})).pattern

const texts = fc
  .array(fc.constantFrom(...CHARACTERS), { maxLength: 6 })
  .map((characters) => characters.join(''))

test('a pattern of the dialect matches the same texts in the service, in PostgreSQL and in JSON Schema', async (t) => {
  const client = new pg.Client(await createEmptyDatabase(t))
  await client.connect()
  t.teardown(() => client.end())
  const pairs = fc.sample(fc.tuple(patterns, fc.array(texts, { minLength: 20, maxLength: 20 })), 300)
  const asked = pairs.flatMap(([pattern, texts]) => texts.map((text) => ({ pattern, text })))
  const { rows } = await client.query<{ matches: boolean }>(
    `SELECT text ~ ('^(?:' || pattern || ')$') AS matches
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (pattern, text, number) ORDER BY number`,
    [asked.map(({ pattern }) => pattern), asked.map(({ text }) => text)],
  )
  const count = rows.filter(({ matches }) => matches).length
  t.true(count > 100 && count < asked.length - 100, `${count} match`)
  for (const [index, { pattern, text }] of asked.entries()) {
    t.is(patternProblem(pattern), undefined)
    const matches = matchesPattern(pattern, text)
    t.is(matches, rows[index]?.matches ?? false, `PostgreSQL: ${pattern} ${JSON.stringify(text)}`)
    const sent = ecmaPattern(pattern)
    for (const flag of ['u', 'v'])
      t.is(matches, new RegExp(`^(?:${sent})$`, flag).test(text), `${pattern} ${JSON.stringify(text)}`)
  }
})

test('what a dialect lacks, and what is not valid, is refused', (t) => {
  for (const pattern of [
    '',
    'a.c',
    '\\d',
    '\\bx',
    '(?=a)',
    'a*?',
    'a**',
    '^a',
    'a$',
    '[[:alpha:]]',
    '(a',
    'a)',
    '[z-a]',
    '[]',
  ])
    t.regex(patternProblem(pattern) ?? '', /the pattern/, pattern)
  t.regex(patternProblem('((a{200}){200}){200}') ?? '', /not valid/)
})

test('a pattern that other engines take exponential time for takes linear time', (t) => {
  const field = text('', { pattern: '(a+)+b', example: 'ab', maximumLength: 10_000 })
  t.like(kindOf(field).check(field, 'a'.repeat(10_000)), { code: 'INVALID_FORMAT' })
})

test('a text must match its pattern or format as a whole', (t) => {
  const codeOf = (field: Parameters<typeof kindOf>[0], value: string) => {
    const checked = kindOf(field).check(field, value)
    return 'code' in checked ? checked.problem : undefined
  }
  const isbn = text('', { pattern: '97[89]-[0-9]{10}', example: '978-0000000000' })
  t.is(codeOf(isbn, '979-1234567890'), undefined)
  t.is(codeOf(isbn, 'x979-1234567890'), 'must match the pattern 97[89]-[0-9]{10}, as "978-0000000000" does')
  const wrong = {
    email: ['ada', 'ada@', '@example.com', 'ada@example', 'ada@example.com\n', 'a da@example.com'],
    uri: ['example.com', '//example.com', 'https://exam ple.com', 'https:'],
    uuid: ['01890a5d', '01890a5dac96774bbcce000000000000', '{01890a5d-ac96-774b-bcce-000000000000}'],
  }
  for (const [format, values] of Object.entries(wrong) as [keyof typeof FORMATS, string[]][]) {
    const field = text('', { format })
    t.is(patternProblem(FORMATS[format].pattern), undefined)
    t.is(codeOf(field, FORMATS[format].example(7)), undefined)
    for (const value of values) t.is(codeOf(field, value), `must be ${FORMATS[format].phrase}`, value)
  }
})
