import test from 'ava'
import { kindOf } from '../../src/model/definition/fields.ts'
import type { Leaf } from '../../src/model/definition/resource.ts'
import { namedOperators, type Operator, operatorDefinition } from '../../src/model/query/operators.ts'
import { queryable } from '../../src/model/query/query.ts'
import { searchable } from '../../src/model/query/search.ts'
import { type Body, Fixtures, valueIn } from '../helpers/domain/fixtures.ts'
import { representatives } from '../helpers/domain/representatives.ts'
import type { Json } from '../helpers/service/client.ts'
import { shareServiceOfSuite } from '../helpers/service/service.ts'

// One request after the other: side by side they would only wait for the same database.
const service = shareServiceOfSuite(test)

/** Whether a value passes a filter. Without one, only `notEquals` and `isSet` can be passed. */
const passes: Record<Operator, (value: Json, wanted: Json[]) => boolean> = {
  equals: (value, [wanted]) => value === wanted,
  notEquals: (value, [wanted]) => value !== wanted,
  in: (value, wanted) => wanted.includes(value),
  isSet: (value, [wanted]) => (value !== undefined) === wanted,
  containsInsensitive: (value, [wanted]) => value.toLowerCase().includes(wanted.toLowerCase()),
  startsWith: (value, [wanted]) => value.startsWith(wanted),
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
    const { operand } = operatorDefinition(operator)
    if (operand === 'boolean') return [true, false].map((wanted) => ({ operator, wanted: [wanted] }))
    if (leaf.field.type === 'list' && leaf.field.item.type !== 'text')
      return [...new Set(values.flat())].map((value) => ({ operator, wanted: [value] }))
    if (operand === 'text') {
      const text = String(values.flat()[0] ?? '')
      return ['_', '%', '\\', '', '№', text.slice(-3), text.slice(0, 4).toUpperCase(), text.slice(0, 5)].map(
        (wanted) => ({ operator, wanted: [wanted] }),
      )
    }
    return values.map((value) => ({ operator, wanted: [value] }))
  })
}

function filterText({ name }: Leaf, operator: Operator, wanted: Json[]): string {
  const [parameter] = [...namedOperators([operator]).keys()]
  const named = parameter === undefined ? name : `${name}[${parameter}]`
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
          const { operand } = operatorDefinition(operator)
          const isNumber = kindOf(leaf.field).isExact === true && (!operand || operand === 'values')
          const compared = (value: Json): Json => (isNumber ? Number(value) : value)
          const expected = items.filter((item) => {
            const value = valueIn(item, leaf)
            const isPassed = value !== undefined || operator === 'notEquals' || operator === 'isSet'
            return isPassed && passes[operator](compared(value), wanted.map(compared))
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

  test.serial(`${path}: a search finds the items with every word in one of their texts`, async (t) => {
    const { reader } = service()
    const { collection, items, only } = await several()
    const leaves = searchable(resource)
    const textsOf = (item: Body) => leaves.map((leaf) => valueIn(item, leaf)?.toLowerCase() ?? '')
    const [first] = items.map(textsOf)
    const words = (first ?? []).flatMap((text) => text.split(' ')).filter((word: string) => word !== '')
    const found = async (q: string) => {
      const { status, body } = await reader.get(`${collection}?${only}&q=${encodeURIComponent(q)}`)
      t.is(status, 200, q)
      const again = await reader.get(body._links.self.href)
      t.deepEqual(again.body, body, 'the self link asks the same question')
      return body._embedded[path].map(({ id }: Json) => id)
    }
    const searches = [
      '',
      '  ',
      '%',
      '_',
      words.slice(0, 10).join(' '),
      ` ${words.slice(0, 3).reverse().join('\t ').toUpperCase()} `,
      `${words[0]} nowhere`,
      ...words.map((word) => word.slice(1)),
      items[0]?.['id'],
      'true',
    ]
    for (const q of searches) {
      const wanted = q.toLowerCase().split(/\s+/).filter(Boolean)
      const expected = items.filter((item) =>
        wanted.every((word: string) => textsOf(item).some((text) => text.includes(word))),
      )
      t.deepEqual(
        await found(q),
        expected.map(({ id }) => id),
        q,
      )
    }
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
      t.is((await reader.get(`${collection}?${filterText(leaf, 'isSet', ['yes'])}`)).status, 400)
      const others = (['contains', 'startsWith', 'gt', 'gte', 'lt', 'lte'] as const).filter(
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
