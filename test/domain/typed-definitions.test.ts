import test from 'ava'
import {
  type ChangeOf,
  computed,
  date,
  decimal,
  defineResource,
  enumeration,
  group,
  integer,
  json,
  list,
  permittingDeletions,
  type Representation,
  reference,
  text,
  timestamp,
} from '../../src/domain/definition.ts'

// `npm run check` compiles this file: a line below `@ts-expect-error` must be an error.

const shops = defineResource({
  kind: 'collection',
  name: 'CornerShop',
  path: 'shops',
  description: 'A shop.',
  fields: { name: text('Name.', { required: true }) },
})

const fields = {
  name: text('Name.', { required: true }),
  status: enumeration(['draft', 'available'], 'Status.', { required: true }),
  price: decimal(10, 2, 'Price.'),
  stock: integer('Stock.'),
  total: computed('price * stock', decimal(12, 2, 'Total.')),
  size: group('Size.', { height: integer('Height.', { required: true }), colour: text('Colour.') }),
  tags: list(enumeration(['new', 'old'], 'Tag.'), 'Tags.'),
  shop_id: reference('shops', 'shop', 'Shop.'),
  remarks: json('Remarks.'),
  first_day: date('First day.', { required: true }),
  sold_at: timestamp('When it was sold.'),
}

const items = defineResource({
  kind: 'owned',
  owner: shops,
  name: 'Item',
  path: 'items',
  description: 'An item.',
  createdField: 'entered_date',
  title: ({ name, price }) => {
    // @ts-expect-error a title has what the caller may read
    name.length
    const amount: string | undefined = price
    return `${name} ${amount}`
  },
  fields,
  checks: [
    (values) => {
      // A body can lack what is required.
      const status: 'draft' | 'available' | undefined = values.status
      // @ts-expect-error it may be missing
      values.name.length
      return status === undefined ? [{ field: 'status', code: 'REQUIRED', message: 'It is missing.' }] : []
    },
  ],
  rules: [
    ({ name, size, first_day }, before) => {
      const height: number | undefined = size?.height
      return name.length > (height ?? 0) && first_day.getTime() === before?.first_day.getTime() ? [] : []
    },
  ],
  async databaseRule({ before, after }) {
    if (!after) return
    if (after.status === 'draft') after.stock = before?.stock ?? null
    const height: number = after.size_height
    const colour: string | null = after.size_colour
    const since: Date = after.first_day
    const version: number | undefined = before?.version
    after.price = colour === null ? null : String(height + since.getTime() + (version ?? 0))
    // @ts-expect-error it is no value of the enumeration
    if (after.status === 'sold') return
    // @ts-expect-error it is no field
    after.prise = null
    // @ts-expect-error it is required
    after.name = null
  },
})

const separate = permittingDeletions<typeof fields>(async ({ after }) => {
  const status: 'draft' | 'available' = after.status
  if (status === 'draft') after.stock = 0
})

test('the types of rows, rules and representations follow from the fields of a definition', (t) => {
  const item: Representation<typeof items> = {
    id: 'one',
    corner_shop_id: 'corner',
    name: 'Kite',
    status: 'draft',
    price: '12.50',
    size: { height: 3 },
    tags: ['new'],
    remarks: [{ any: 'JSON' }],
    first_day: '2031-06-01',
    entered_date: '2031-06-01T00:00:00.000Z',
    last_updated: '2031-06-01T00:00:00.000Z',
  }
  // @ts-expect-error a decimal is a text
  const price: number | undefined = item.price
  // @ts-expect-error it is no value of the enumeration
  const wrong: Representation<typeof items>['status'] = 'sold'
  // @ts-expect-error a required field must be there
  const { name, ...others }: Representation<typeof items> = { ...item, name: undefined }
  // @ts-expect-error the items of the list are those of the enumeration
  const tags: Representation<typeof items>['tags'] = ['used']
  // @ts-expect-error no option has this name
  text('Name.', { requird: true })
  const rule: (change: ChangeOf<typeof fields>) => Promise<void> = separate
  t.deepEqual([price, wrong, name, tags], ['12.50', 'sold', undefined, ['used']] as never)
  t.is(others.id, 'one')
  t.is(typeof rule, 'function')
  t.is(items.parentField, 'corner_shop_id')
  t.true(fields.name.required)
})
