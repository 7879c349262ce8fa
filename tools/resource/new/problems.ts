import { camelCase, graphNames } from '../../../src/graph/names.ts'
import { defineResource } from '../../../src/model/definition/define-resource.ts'
import type { Domain } from '../../../src/model/definition/domain.ts'
import { type Resource, tableName } from '../../../src/model/definition/resource.ts'
import { text } from '../../../src/model/kinds/text.ts'
import { RESERVED_PATH } from '../../../src/model/problems/definition-problems.ts'
import { createCompleteSchema } from '../../../src/service/features.ts'
import type { NewResource } from './scaffold.ts'

/** GraphQL's own types. */
const RESERVED_NAMES = ['Query', 'Mutation', 'Subscription']

/** Names that the modules of definitions import or that JavaScript reserves. */
const RESERVED_CONSTANTS =
  /^(text|reference|number|magnitude|integer|boolean|timestamp|enumeration|fractions|group|defineResource|domain|resources|arguments|await|break|case|catch|class|const|continue|debugger|default|delete|do|else|enum|eval|export|extends|false|finally|for|function|if|implements|import|in|instanceof|interface|let|new|null|package|private|protected|public|return|static|super|switch|this|throw|true|try|typeof|undefined|var|void|while|with|yield)$/

/** Triggers have longer names than their table, and PostgreSQL allows 63 bytes. */
const LONGEST_PATH = 40

export function newResourceProblems(resource: NewResource, domain: Domain): string[] {
  const form = formProblems(resource)
  return form.length > 0 ? form : [...ownerProblems(resource, domain.resources), ...clashes(resource, domain)]
}

const PATH = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const NAME = /^[A-Z][A-Za-z0-9]{0,39}$/

function formProblems({ path, name }: NewResource): string[] {
  const [isPath, isName] = [PATH.test(path) && path.length <= LONGEST_PATH, NAME.test(name)]
  const [wrongPath, wrongName] = [path, name].map((given) => `${JSON.stringify(given)} is not valid`)
  return [
    !isPath &&
      `The path ${wrongPath}: lower-case words with hyphens, such as training-records, of at most ${LONGEST_PATH} characters`,
    RESERVED_PATH.test(path) && `The path ${path} is reserved`,
    RESERVED_CONSTANTS.test(camelCase(path)) && `The path ${path} cannot name a constant of the definitions`,
    !isName &&
      `The name ${wrongName}: words in the singular that begin with capitals, such as TrainingRecord`,
    RESERVED_NAMES.includes(name) && `The name ${name} is reserved`,
  ].filter((problem) => problem !== false)
}

function ownerProblems({ kind, owner }: NewResource, resources: readonly Resource[]): string[] {
  if (kind === 'collection') return owner ? ['A collection has no owner: use --kind owned or singleton'] : []
  if (!owner) return [`A resource of the kind ${kind} needs --owner, the path of a collection`]
  const target = resources.find(({ path }) => path === owner.path)
  const collections = resources.filter((other) => other.kind === 'collection').map(({ path }) => path)
  return target?.kind === 'collection'
    ? []
    : [`The owner ${owner.path} is not a collection. Collections: ${collections.join(', ')}`]
}

function clashes(resource: NewResource, { resources, versions }: Domain): string[] {
  const { path, name } = resource
  const taken = resources.filter((other) => tableName(other.path) === tableName(path))
  if (taken.length > 0) return [`There is a resource with the path ${path}`]
  const schema = createCompleteSchema(resources, versions)
  const fieldsOf = (type: string) =>
    Object.keys((schema.getType(type) as { getFields?(): object })?.getFields?.() ?? {})
  const names = new Set([...Object.keys(schema.getTypeMap()), ...fieldsOf('Query'), ...fieldsOf('Mutation')])
  const fields = { name: text('Name.') }
  const definition = defineResource({ kind: 'collection', path, name, description: '', fields })
  const clashing = Object.values(graphNames(definition)).filter((name) => names.has(name))
  const siblings = resource.owner
    ? fieldsOf(resource.owner.name).filter((field) => field === camelCase(path))
    : []
  return [
    ...(clashing.length > 0
      ? [`The name ${name} clashes with ${clashing.join(', ')} of the GraphQL schema: choose another --name`]
      : []),
    ...siblings.map((field) => `${resource.owner?.name} already has the field ${field} in GraphQL`),
  ]
}
