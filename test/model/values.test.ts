import test from 'ava'
import { decimal, fractions, integer, json, list, text, timestamp } from '../../src/domain/definition.ts'
import { KINDS, kindOf, type LeafField } from '../../src/model/definition/fields.ts'
import { exactNumber, isObject } from '../../src/model/values.ts'
import { fc } from '../helpers/process/run.ts'

const check = (field: LeafField, value: unknown) => kindOf(field).check(field, value)

const codeOf = (field: LeafField, value: unknown) => {
  const checked = check(field, value)
  return 'code' in checked ? checked.code : undefined
}

test('a double is exact in every precision that tells it apart, and is infinite with any other digit', (t) => {
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
  fc.assert(
    fc.property(finite, fc.integer({ min: 20, max: 100 }), (number, precision) => {
      fc.pre(number !== 0)
      const texts = [String(number), number.toPrecision(precision), number.toExponential(precision - 1)]
      for (const text of texts) t.is(exactNumber(text), Number(text), text)
      const [, digits = '', last, exponent = ''] =
        /^([^e]*)(\d)(e.*)?$/.exec(number.toPrecision(precision)) ?? []
      t.is(exactNumber(`${digits}${(Number(last) + 5) % 10 || 9}${exponent}`), Number.POSITIVE_INFINITY)
    }),
  )
})

test('a decimal is stored in one form, and zero has no sign', (t) => {
  const price = decimal(8, 2, '')
  for (const [written, stored] of [
    ['-0.00', '0.00'],
    ['-0', '0.00'],
    [-0, '0.00'],
    ['-000.0', '0.00'],
    ['-0.01', '-0.01'],
    ['007.5', '7.50'],
    [12.5, '12.50'],
  ] as const)
    t.deepEqual(check(price, written), { value: stored }, String(written))
})

test('equal items in another spelling are duplicates in a list of distinct ones', (t) => {
  for (const [item, equal, different] of [
    [decimal(8, 2, ''), ['1.5', '1.50'], ['1.5', '1.51']],
    [decimal(8, 2, ''), ['0', '-0.00'], ['0.01', '-0.01']],
    [decimal(8, 2, ''), ['7', '07.0'], ['7', '70']],
    [decimal(8, 2, ''), [2.5, '2.50'], [2.5, '25']],
    [timestamp(''), ['2031-04-05T06:07Z', '2031-04-05T08:07:00+02:00'], ['2031-04-05', '2031-04-06']],
  ] as const) {
    const distinct = list(item, '', { distinct: true })
    t.deepEqual(check(distinct, equal), { code: 'INVALID_VALUE', problem: 'must not have duplicate items' })
    t.true('value' in check(distinct, different))
    t.true('value' in check(list(item, ''), equal))
  }
})

test('a timestamp is a day, or a time with its offset, and becomes UTC', (t) => {
  for (const [written, date] of [
    ['2031-04-05', '2031-04-05T00:00:00.000Z'],
    ['2031-04-05T06:07Z', '2031-04-05T06:07:00.000Z'],
    ['2031-04-05T06:07:08Z', '2031-04-05T06:07:08.000Z'],
    ['2031-04-05T06:07:08.9Z', '2031-04-05T06:07:08.900Z'],
    ['2031-04-05T06:07:08.900000Z', '2031-04-05T06:07:08.900Z'],
    ['2031-04-05T06:07:08.900+14:00', '2031-04-04T16:07:08.900Z'],
    ['2032-02-29T23:59:59.999-00:30', '2032-03-01T00:29:59.999Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ] as const) {
    t.deepEqual(check(timestamp(''), written), { value: new Date(date) }, written)
  }
})

test('a timestamp that is malformed, without offset or out of the calendar is refused', (t) => {
  const malformed = [
    '',
    ' ',
    'now',
    '2031',
    '2031-04',
    '2031-4-5',
    '20310405',
    '2031-02-29',
    '2031-04-31',
    '2031-00-10',
    '2031-13-01',
    '2031-04-05T06:07:08',
    '2031-04-05T24:00:00Z',
    '2031-04-05T06:60Z',
    '2031-04-05T06:07:60Z',
    '2031-04-05T06:07:08.9001Z',
    '2031-04-05 06:07:08Z',
    '2031-04-05T06:07:08z',
    '2031-04-05T06:07:08+24:00',
    '2031-04-05T06:07:08+0100',
    ' 2031-04-05',
    '2031-04-05\n',
    '+012031-04-05',
    '-0001-01-01',
    '2031-W14-6',
  ]
  for (const written of malformed)
    t.is(codeOf(timestamp(''), written), 'INVALID_FORMAT', JSON.stringify(written))
  for (const written of ['0000-12-31T23:59:59Z', '0001-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01']) {
    t.is(codeOf(timestamp(''), written), 'OUT_OF_RANGE', written)
  }
  for (const value of [1, true, {}, []]) t.is(codeOf(timestamp(''), value), 'INVALID_TYPE')
})

test('every timestamp that is returned is accepted, and is the same', (t) => {
  const dates = fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T23:59:59.999Z'),
    noInvalidDate: true,
  })
  fc.assert(
    fc.property(dates, (date) => {
      t.deepEqual(check(timestamp(''), date.toISOString()), { value: date })
    }),
  )
})

test('length is counted in code points, and text that PostgreSQL cannot store is refused', (t) => {
  const field = text('', { maximumLength: 3 })
  t.is(codeOf(field, '👩🦎🪐'), undefined)
  t.is(codeOf(field, '👩🦎🪐.'), 'TOO_LONG')
  for (const value of ['\0', 'a\0', '\ud800', '\udc00', '\udc00\ud800'])
    t.is(codeOf(field, value), 'INVALID_VALUE')
})

test('a text to compare with is as long as its field can hold, and at most 10,000 characters', (t) => {
  for (const [maximumLength, longest] of [
    [1, 1],
    [10_000, 10_000],
    [20_000, 10_000],
  ] as const) {
    const field = text('', { maximumLength })
    const compared = (length: number) => kindOf(field).fromQuery(field, '\u{1F30D}'.repeat(length))
    t.true('value' in compared(longest))
    t.like(compared(longest + 1), { code: 'TOO_LONG' })
  }
})

test('an integer has 32 bits', (t) => {
  for (const value of [-2147483648, -0, 0, 2147483647, 1e3]) t.is(codeOf(integer(''), value), undefined)
  for (const value of [2147483648, -2147483649, 1e300]) t.is(codeOf(integer(''), value), 'OUT_OF_RANGE')
  for (const value of [0.5, '1', true, null, {}]) t.is(codeOf(integer(''), value), 'INVALID_TYPE')
  for (const value of [Number.NaN, Infinity, -Infinity]) t.is(codeOf(integer(''), value), 'OUT_OF_RANGE')
})

test('JSON has at most so many bytes, in UTF-8 and without spaces', (t) => {
  const field = json('', { maximumBytes: 10 })
  for (const value of ['x'.repeat(8), '🪐🪐', [1, 2, 3, 45], { ab: 123 }])
    t.is(codeOf(field, value), undefined)
  for (const value of ['x'.repeat(9), '🪐🪐.', [1, 2, 3, 456], { ab: 1234 }])
    t.is(codeOf(field, value), 'TOO_LONG')
})

test('fractions are an object of bounded size that maps names to numbers from 0', (t) => {
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`gas ${index}`, 0]))
  t.is(codeOf(fractions(''), { a: 0, 'b c': 0.5 }), undefined)
  t.is(codeOf(fractions(''), many), 'TOO_LONG')
  t.is(codeOf(fractions(''), { ['x'.repeat(101)]: 0 }), 'TOO_LONG')
  t.is(codeOf(fractions(''), { 'a\0': 0 }), 'INVALID_VALUE')
  t.is(codeOf(fractions(''), { a: -0.1 }), 'OUT_OF_RANGE')
  for (const value of [{ a: '0' }, { a: null }, { a: {} }, [], 1])
    t.is(codeOf(fractions(''), value), 'INVALID_TYPE')
})

test('an object is neither null, nor an array, nor a date', (t) => {
  t.deepEqual([{}, Object.create(null), null, [], new Date(), 'x', 1].map(isObject), [
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ])
})

for (const kind of KINDS) {
  test(`${kind.type}: a long text is checked without delay, in a body, a filter and a cell`, (t) => {
    const { field } = kind.guide
    for (const character of [' ', '0', '-', '.', ':', 'T', '"', '\\', '(', '[', 'a', '@a.'])
      for (const [start, end] of [
        ['', 'x'],
        ['', '"'],
        ['1.', 'x'],
        ['a@', '!'],
        ['2031-01-01T00:00:00.', 'x'],
      ]) {
        const text = `${start}${character.repeat(100_000)}${end}`
        const before = process.cpuUsage()
        kind.check(field, text)
        kind.check(field, [text])
        kind.fromQuery(field, text)
        kind.fromCell?.(text)
        const { user } = process.cpuUsage(before)
        t.true(user < 300_000, `${text.slice(0, 25)}…: ${user} µs`)
      }
  })
}

test('each kind says how many characters its longest value has in JSON', (t) => {
  const lengths = KINDS.map(({ type, guide, characters }) => [type, characters?.(guide.field as never)])
  t.deepEqual(Object.fromEntries(lengths), {
    text: 320,
    enumeration: 9,
    number: undefined,
    integer: undefined,
    // With a sign and a point.
    decimal: 12,
    boolean: undefined,
    timestamp: undefined,
    date: 10,
    fractions: 12_400,
    json: 2_000,
    list: 860,
    reference: 64,
  })
})
