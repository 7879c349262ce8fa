import { defineResource, type Field, integer, json, text, timestamp } from 'halgraph/domain'
import { names } from './names.ts'

/** A field for each name, of a kind that depends on its place. */
function fieldsFrom(first: number): Readonly<Record<string, Field>> {
  const kinds = [text, integer, timestamp, json] as const
  const made = names.map((name, index) => [
    name,
    kinds[(first + index) % kinds.length]?.(`The name ${name}.`),
  ])
  return Object.fromEntries(made)
}

export const glosses = defineResource({
  kind: 'collection',
  name: 'Gloss',
  path: 'glosses',
  description: 'A field for each name in the SQL of the engine.',
  fields: fieldsFrom(0),
})

export const senses = defineResource({
  kind: 'owned',
  owner: glosses,
  name: 'Sense',
  path: 'senses',
  description: 'The same below another resource, with other kinds.',
  fields: fieldsFrom(1),
})
