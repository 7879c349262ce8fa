import test from 'ava'
import { kindOf } from '../../src/model/fields.ts'
import { type Operator, queryable } from '../../src/model/query/query.ts'
import type { Leaf } from '../../src/model/resource.ts'
import { type Body, Fixtures, valueIn } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareTestService } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareTestService(test)

/** Whether a value that is set passes a filter. */
const passes: Record<Operator, (value: Json, wanted: Json[]) => boolean> = {
  equals: (value, [wanted]) => value === wanted,
  in: (value, wanted) => wanted.includes(value),
  contains: (value, [wanted]) => value.includes(wanted),
  gt: (value, [wanted]) => value > wanted,
  gte: (value, [wanted]) => value >= wanted,
  lt: (value, [wanted]) => value < wanted,
  lte: (value, [wanted]) => value <= wanted,
}

/** What to ask of a leaf: each operator, with values that some of the items have. */
function questions(leaf: Leaf, items: readonly Body[]): { operator: Operator; wanted: Json[] }[] {
  const values = [...new Set(items.map((item) => valueIn(item, leaf)).filter((value) => value !== undefined))]
  return kindOf(leaf.field).operators.flatMap((operator): { operator: Operator; wanted: Json[] }[] => {
    if (operator === 'in') return [{ operator, wanted: values.slice(0, 2) }]
    if (operator === 'contains')
      return ['_', '%', '\\', '', '№', String(values[0]).slice(-3)].map((text) => ({
        operator,
        wanted: [text],
      }))
    return values.map((value) => ({ operator, wanted: [value] }))
  })
}

function filterText({ name }: Leaf, operator: Operator, wanted: Json[]): string {
  const named = operator === 'equals' ? name : `${name}[${operator}]`
  return `filter=${encodeURIComponent(`${named}:${wanted.join('|')}`)}`
}

for (const resource of representatives.filter((candidate) => candidate.listed)) {
  const { path } = resource

  async function several() {
    const fixtures = new Fixtures(service().writer)
    const parentId = await fixtures.parent(resource)
    const parent = parentId === undefined ? {} : { parentId }
    const items: Body[] = []
    let collection = ''
    for (const whole of [true, true, false, true]) {
      const body = await (whole ? fixtures.body(resource) : fixtures.minimalBody(resource))
      const one = await fixtures.create(resource, { body, ...parent })
      items.push(one.answer.body)
      collection = one.collection
    }
    const only = filterText(
      { name: 'id' } as Leaf,
      'in',
      items.map(({ id }) => id),
    )
    return { collection, items, only }
  }

  test.serial(
    `${path}: it is filtered by every field with every operator, and all filters must hold`,
    async (t) => {
      const { reader } = service()
      const { collection, items, only } = await several()
      for (const leaf of queryable(resource.shownLeaves)) {
        for (const { operator, wanted } of questions(leaf, items)) {
          const isExact = kindOf(leaf.field).isExact === true
          const compared = (value: Json): Json => (isExact && operator !== 'contains' ? Number(value) : value)
          const expected = items.filter((item) => {
            const value = valueIn(item, leaf)
            return value !== undefined && passes[operator](compared(value), wanted.map(compared))
          })
          const { status, body } = await reader.get(
            `${collection}?${only}&${filterText(leaf, operator, wanted)}`,
          )
          const said = `${leaf.name} ${operator} ${wanted}`
          t.is(status, 200, said)
          t.deepEqual(
            body._embedded[path].map(({ id }: Json) => id),
            expected.map(({ id }) => id),
            said,
          )
          t.is(body.total_count, expected.length)
          const again = await reader.get(body._links.self.href)
          t.deepEqual(again.body, body, 'the self link asks the same question')
        }
      }
    },
  )

  test.serial(`${path}: the bare name of a field is a filter for equality, or for an item`, async (t) => {
    const { reader } = service()
    const { collection, items, only } = await several()
    for (const leaf of queryable(resource.shownLeaves)) {
      const value = valueIn(items[0] as Body, leaf)
      if (value === undefined) continue
      const bare = `${leaf.name}=${encodeURIComponent(value)}`
      const { status, body, text } = await reader.get(`${collection}?${only}&${bare}`)
      t.is(status, 200, `${leaf.name} ${text}`)
      const named = await reader.get(`${collection}?${only}&${filterText(leaf, 'equals', [value])}`)
      t.deepEqual(body._embedded, named.body._embedded)
      t.deepEqual((await reader.get(body._links.self.href)).body._embedded, body._embedded)
      t.deepEqual(
        (await reader.get(`${collection}?${bare}&${leaf.name}=${encodeURIComponent(value)}`)).status,
        leaf.name === 'id' ? 400 : 200,
      )
    }
    const both = await reader.get(`${collection}?${resource.createdField}=yesterday&unheard_of=1`)
    t.deepEqual(
      [both.status, both.body.error.details.map(({ code }: Json) => code)],
      [400, ['UNKNOWN_PARAMETER', 'INVALID_FORMAT']],
    )
  })

  test.serial(`${path}: a filter value that does not fit the field is refused`, async (t) => {
    const { reader } = service()
    const { collection } = await several()
    for (const leaf of queryable(resource.shownLeaves)) {
      const { type } = leaf.field
      const isText = ['text', 'reference', 'list'].includes(type)
      const texts = isText
        ? ['a\0b']
        : ['', ' ', 'x', '1x', '0x10', 'NaN', 'Infinity', 'null', 'TRUE', '1,5', '2031-02-30']
      const isNumber = ['number', 'integer', 'decimal'].includes(type)
      if (isNumber) texts.push('1e400')
      if (type === 'integer') texts.push('1.5', '2147483648')
      if (!isNumber && !isText) texts.push('1')
      for (const text of texts) {
        const { status, body } = await reader.get(`${collection}?${filterText(leaf, 'equals', [text])}`)
        t.deepEqual(
          [leaf.name, text, status, body.error?.code],
          [leaf.name, text, 400, 'INVALID_QUERY_PARAMETER'],
        )
        const among = await reader.get(`${collection}?${filterText(leaf, 'in', [text, text])}`)
        t.is(among.status, 400, `${leaf.name} in ${text}`)
      }
      const others = (['contains', 'gt', 'gte', 'lt', 'lte'] as const).filter(
        (operator) => !kindOf(leaf.field).operators.includes(operator),
      )
      for (const operator of others) {
        t.is(
          (await reader.get(`${collection}?${filterText(leaf, operator, ['1'])}`)).status,
          400,
          `${leaf.name} ${operator}`,
        )
      }
    }
  })
}
