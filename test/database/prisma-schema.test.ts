import { readFile } from 'node:fs/promises'
import test from 'ava'
import { parseTimestamptz } from '../../src/database/client.ts'
import { isAlwaysSet, KINDS, kindOf } from '../../src/model/definition/fields.ts'
import { tableName } from '../../src/model/definition/resource.ts'
import { domain, resources } from '../helpers/domain/domain.ts'

interface Model {
  readonly table: string
  /** The type of each column as it is written, with `?` where it may be null. */
  readonly columns: Readonly<Record<string, string>>
  readonly text: string
}

async function readModels(): Promise<Map<string, Model>> {
  const schema = await readFile(domain.folder.schema, 'utf8')
  const scalars = new Set(KINDS.map(({ prismaType }) => prismaType))
  const models = [...schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)].map(
    ([, name, text = '']): [string, Model] => {
      const fields = [...text.matchAll(/^ {2}(\w+) +(\w+)(\??)(?= |$)/gm)]
      const columns = fields
        .filter(([, , type]) => scalars.has(type as string))
        .map(([, field, type, mark]) => [field, `${type}${mark}`])
      const table = /@@map\("(\w+)"\)/.exec(text)?.[1] ?? ''
      return [name as string, { table, columns: Object.fromEntries(columns), text }]
    },
  )
  return new Map(models)
}

const models = readModels()

for (const resource of resources) {
  test(`${resource.path}: the Prisma model has a column for every leaf, of its type, and no others`, async (t) => {
    const model = (await models).get(resource.name) as Model
    const expected = resource.leaves.map(({ column, field }) => [
      column,
      `${kindOf(field).prismaType}${isAlwaysSet(field) ? '' : '?'}`,
    ])
    t.deepEqual(model.columns, { ...Object.fromEntries(expected), version: 'Int', changed_by: 'String?' })
    t.is(model.table, tableName(resource.path))
  })

  test(`${resource.path}: the Prisma model has the keys and the relations of the definition`, async (t) => {
    const { text } = (await models).get(resource.name) as Model
    const { parentField } = resource
    if (parentField) {
      t.true(text.includes(`@@id([${parentField}, id])`))
      t.regex(text, new RegExp(`fields: \\[${parentField}\\], references: \\[id\\], onDelete: Cascade`))
    } else {
      t.regex(text, /^ {2}id +String +@id$/m)
    }
    for (const { column, field } of resource.leaves) {
      if (field.type !== 'reference') continue
      t.true(text.includes(`fields: [${column}], references: [id]`), column)
    }
    for (const { column, field } of resource.leaves) {
      const line = new RegExp(`^ {2}${column} .*$`, 'm').exec(text)?.[0] ?? ''
      t.true(line.includes(kindOf(field).prismaAttribute?.(field) ?? ''), column)
    }
  })
}

test('every model is a resource', async (t) => {
  const names = resources.map(({ name }) => name)
  t.deepEqual([...(await models).keys()].sort(), names.sort())
})

const TIMESTAMPS = [
  ['2031-04-05 06:07:08.9+00', '2031-04-05T06:07:08.900Z'],
  ['2031-04-05 06:07:08.012+00', '2031-04-05T06:07:08.012Z'],
  ['0001-01-01 00:00:00+00', '0001-01-01T00:00:00.000Z'],
  ['2031-04-05 06:07:08+02', '2031-04-05T04:07:08.000Z'],
  ['2031-04-05 06:07:08.5-03:30', '2031-04-05T09:37:08.500Z'],
  ['1883-11-18 12:03:58+00:00:30', '1883-11-18T12:03:28.000Z'],
] as const

for (const [text, iso] of TIMESTAMPS) {
  test(`${text} is ${iso}`, (t) => t.is(parseTimestamptz(text).toISOString(), iso))
}
