import { readFile } from 'node:fs/promises'
import test from 'ava'
import {
  type GraphQLArgument,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isNonNullType,
  isObjectType,
  isScalarType,
  isSpecifiedScalarType,
  printSchema,
} from 'graphql'
import { defineResource, group, json, text } from '../../src/domain/definition.ts'
import { createCompleteSchema } from '../../src/service/features.ts'
import { resources } from '../helpers/domain/domain.ts'

const schema = createCompleteSchema(resources)

const types = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
)

/** The path of everything in a type that has no description. */
function undescribed(type: GraphQLNamedType): string[] {
  const own = type.description ? [] : [type.name]
  if (isObjectType(type)) {
    const inner = Object.values(type.getFields()).flatMap((field) => {
      const args = field.args.filter((one: GraphQLArgument) => !one.description)
      const missing = args.map(({ name }) => `${type.name}.${field.name}(${name})`)
      return field.description ? missing : [`${type.name}.${field.name}`, ...missing]
    })
    return [...own, ...inner]
  }
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields()).filter(({ description }) => !description)
    return [...own, ...fields.map(({ name }) => `${type.name}.${name}`)]
  }
  return own
}

test('every type, field, argument and input field has a description', (t) => {
  t.deepEqual(types.flatMap(undescribed), [])
  t.true(types.length > 100)
})

test('the values of the enumerations of the schema itself have a description', (t) => {
  const own = new Set(
    resources
      .flatMap(({ name }) => [`${name}SortField`, `${name}GroupField`])
      .concat('WriteOutcome', 'GroupOrder'),
  )
  for (const type of types.filter((one) => isEnumType(one) && own.has(one.name))) {
    if (!isEnumType(type)) continue
    t.true(
      type.getValues().every(({ description }) => description),
      type.name,
    )
  }
})

test('a description of the definitions is that of the schema', (t) => {
  for (const resource of resources) {
    const type = schema.getType(resource.name)
    t.is(type?.description, resource.description)
  }
})

test('clients can leave out each argument and input field with a default, and nothing in the schema is out of reach', (t) => {
  for (const type of types)
    if (isObjectType(type) || isInputObjectType(type))
      for (const field of Object.values(type.getFields()))
        for (const input of 'args' in field ? field.args : [field])
          if ('defaultValue' in input && input.defaultValue !== undefined)
            t.deepEqual([isNonNullType(input.type), input.defaultValue], [false, null], field.name)
  const { types: all, ...roots } = schema.toConfig()
  const reached = new GraphQLSchema(roots).getTypeMap()
  t.deepEqual(
    all.filter(({ name }) => !(name in reached)).map(({ name }) => name),
    [],
  )
  for (const name of ['SpeciesPatch', 'SpeciesReadOnly', 'DecimalFilter', 'MissionDataPatch'])
    t.is(schema.getType(name) !== undefined, name.startsWith('Species'), name)
})

test('moments are a scalar of their own, not text', (t) => {
  t.true(isScalarType(schema.getType('DateTime')))
  for (const { name } of resources) {
    const type = schema.getType(name)
    if (isObjectType(type)) t.is(String(type.getFields()['lastUpdated']?.type), 'DateTime!')
  }
})

test('docs/schema.graphql is what the definitions make; `npm run docs` writes it', async (t) => {
  const committed = await readFile(new URL('../../docs/schema.graphql', import.meta.url), 'utf8')
  t.true(committed === `${printSchema(createCompleteSchema(resources))}\n`)
})

test('a group of JSON alone has no filter, and one with other members filters those', (t) => {
  const resource = defineResource({
    kind: 'collection',
    name: 'Note',
    path: 'notes',
    description: 'A note.',
    fields: {
      loose: group('Anything.', { remarks: json('Remarks.') }),
      mixed: group('Both.', { remarks: json('Remarks.'), title: text('Title.') }),
    },
  })
  const types = createCompleteSchema([resource], undefined).getTypeMap()
  t.is(types['NoteLooseFilter'], undefined)
  const fieldsOf = (name: string) => Object.keys((types[name] as GraphQLInputObjectType).getFields())
  t.deepEqual(fieldsOf('NoteMixedFilter'), ['title'])
  t.false(fieldsOf('NoteFilter').includes('loose'))
})
