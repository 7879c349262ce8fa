import type { PersistedOperations } from '../graph/http/persisted-operations.ts'
import { camelCase, columnValue, graphNames, pascalCase } from '../graph/names.ts'
import { type Field, kindOf } from '../model/definition/fields.ts'
import { ownedBy, relationsOf } from '../model/definition/relations.ts'
import type { Resource } from '../model/definition/resource.ts'
import { groupable } from '../model/query/aggregate.ts'

export function exampleOperations(resources: readonly Resource[], { documents }: PersistedOperations) {
  const collections = resources.filter(({ kind }) => kind === 'collection')
  return [
    ...collections.map((resource) => pageExample(resource, resources)),
    ...collections.slice(0, 1).map(connectionExample),
    ...collections.flatMap(aggregateExample),
    ...collections.slice(0, 1).map(deleteExample),
    CHANGES_EXAMPLE,
    ...[...documents].map(([name, document]) => ({ title: `Persisted: ${name}`, document })),
  ]
}

const CHANGES_EXAMPLE = {
  title: 'Changes as they happen',
  document: `subscription changes {
  changes { cursor collection id version event time by resource }
}
`,
}

function pageExample(resource: Resource, resources: readonly Resource[]) {
  const references = relationsOf(resource, resources).map(
    ({ relation, target }) => `${camelCase(relation)} { ${plainFields(target)} }`,
  )
  const lists = ownedBy(resource, resources)
    .filter(({ listed }) => listed)
    .map((child) => `${camelCase(child.path)}(limit: 5) { totalCount items { ${plainFields(child)} } }`)
  const lines = [...plainFields(resource).split(' '), ...references, ...lists]
  const created = columnValue(resource.createdField)
  return {
    title: `The newest ${resource.path}`,
    /** Only the first example of a collection has this. */
    path: resource.path,
    document: `query newest${pascalCase(resource.path)} {
  ${graphNames(resource).page}(limit: 10, sort: [{ field: ${created}, direction: DESC }]) {
    totalCount
    items {
${lines.map((line) => `      ${line}`).join('\n')}
    }
  }
}
`,
  }
}

function connectionExample(resource: Resource) {
  return {
    title: `The ${resource.path}, paged by cursors`,
    document: `# For the next part, pass endCursor as $after.
query ${camelCase(resource.path)}ByCursors($after: String) {
  ${graphNames(resource).connection}(first: 10, after: $after) {
    totalCount
    pageInfo { hasNextPage endCursor }
    nodes { ${plainFields(resource)} }
  }
}
`,
  }
}

/** Groups by a field whose values many resources share. */
function aggregateExample(resource: Resource) {
  const candidates = groupable(resource.shownLeaves).filter(({ field }) => !('unique' in field))
  const settable = candidates.filter(({ field, name }) => !field.readOnly && name !== 'id')
  const leaf = settable.find(({ field }) => kindOf(field).hasFewValues) ?? settable[0]
  if (!leaf) return []
  const document = `query ${camelCase(resource.path)}By${pascalCase(leaf.column)} {
  ${graphNames(resource).aggregate}(groupBy: [${columnValue(leaf.column)}], order: KEY) {
    groups { key { ${camelCase(leaf.column)} } count }
  }
}
`
  return [{ title: `Number of ${resource.path} by ${leaf.name}`, document }]
}

function deleteExample(resource: Resource) {
  return {
    title: `Delete one of the ${resource.path} if it has not changed`,
    document: `mutation delete${resource.name}($id: ID!, $version: Int!) {
  ${graphNames(resource).delete}(id: $id, ifVersion: [$version]) { outcome }
}
`,
  }
}

/** The identifier and the next four plain fields. */
function plainFields({ shownFields }: Resource): string {
  const isPlain = (field: Field) => field.type !== 'group' && kindOf(field).operators.length > 0
  const names = Object.keys(shownFields).filter((name) => isPlain(shownFields[name] as Field))
  return names.slice(0, 5).map(camelCase).join(' ')
}
