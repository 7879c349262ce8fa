import { type Field, uniquenessOf } from './fields.ts'
import type { Resource } from './resource.ts'

/** Of other fields of every resource, of members of GraphQL's filters, and of PostgreSQL's system columns. */
const RESERVED = /^(id|last_updated|version|node_id|nodeId|and|or|tableoid|xmin|xmax|cmin|cmax|ctid)$/

/** What GraphQL and Prisma take as the name of a field. */
const FIELD_NAME = /^[A-Za-z]\w*$/

/** What GraphQL takes as a value of an enumeration. */
const VALUE_NAME = /^(?!(?:true|false|null)$)[A-Za-z_]\w*$/

/** What neither GraphQL nor the tables can have in the fields of a resource, each as one line. */
export function fieldProblems(resource: Resource): string[] {
  const { path, kind, fields, parentField, createdField, writable } = resource
  const problems = Object.entries(fields).flatMap(([name, field]) => {
    const isReserved = RESERVED.test(name) || name === parentField || name === createdField
    return [
      ...(isReserved ? [`${path}.${name}: this name is reserved`] : []),
      ...problemsOfField(`${path}.${name}`, name, field, kind),
    ]
  })
  return writable.length > 0 ? problems : [...problems, `${path}: it has no field that a caller may write`]
}

function problemsOfField(place: string, name: string, field: Field, kind: Resource['kind']): string[] {
  const members = field.type === 'group' ? Object.entries(field.fields) : []
  const values = field.type === 'enumeration' ? field.values : []
  const wrong = values.filter((value, index) => !VALUE_NAME.test(value) || values.indexOf(value) !== index)
  const isWithinParent = field.type !== 'group' && uniquenessOf(field) === 'parent'
  return [
    ...(FIELD_NAME.test(name)
      ? []
      : [`${place}: a name has letters, digits and underscores, and begins with a letter`]),
    ...(field.type === 'group' && members.length === 0 ? [`${place}: a group needs a field`] : []),
    ...(field.type === 'enumeration' && values.length === 0 ? [`${place}: it needs a value`] : []),
    ...wrong.map((value) => `${place}: the value ${JSON.stringify(value)} must be a GraphQL name, and once`),
    ...(isWithinParent && kind === 'collection'
      ? [`${place}: it is unique within the parent, but a collection has no parent`]
      : []),
    ...members.flatMap(([member, leaf]) => problemsOfField(`${place}.${member}`, member, leaf, kind)),
  ]
}
