import { pascalCase } from '../../graph/names.ts'
import { hidesRows } from '../../model/access/access.ts'
import { nounWithArticle, plural } from '../../model/definition/labels.ts'
import { identifierField, type Resource } from '../../model/definition/resource.ts'
import { mapped } from '../../model/values.ts'
import {
  descriptionOf,
  errorsOf,
  type OperationResponse,
  type ResourceOperation,
  type ServiceOperation,
} from '../../rest/operation.ts'
import { type CollectionOperation, resourcePaths, type ServedPath } from '../../rest/resource-operations.ts'
import type { ResourceExamples } from './examples.ts'
import { component, type Schema, type Schemas, schemaNamed } from './field-schema.ts'
import { identifierParameter, queryParameters, shared } from './parameters.ts'
import { type Body, componentOf, errorReferences, halContent, response } from './responses.ts'

/** What OpenAPI says of an operation besides its record. */
interface Subject {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly path: string
  /** Besides headers. */
  readonly parameters: readonly Schema[]
  /** Whether the caller may be unable to read what it has written. */
  readonly hidesRows?: boolean
  /** By its name in the record. */
  requestBody(name: string): Body
  /** By the name of the body in the record. */
  schemaOf(name: string): string
  links?(response: OperationResponse): Schemas
}

export function describe(operation: ResourceOperation | ServiceOperation, subject: Subject): Schema {
  const { headers = [], body, types = [], responses } = operation
  const { operationId, summary, description, tag, path, links } = subject
  const parameters = [...subject.parameters, ...shared(...headers)]
  const [input = '', example] = body ? subject.requestBody(body.content) : []
  const schema = schemaNamed(input)
  return {
    operationId,
    summary,
    description: `${summary}. ${description}`.trimEnd(),
    tags: [tag],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: inTypes(body.types, (index) => ({ schema, ...(index === 0 && { example }) })),
      },
    }),
    responses: {
      ...mapped(responses, (one, status) => {
        const common = 'action' in operation ? componentOf(operation, status) : undefined
        if (common !== undefined) return component('responses', common)
        const texts = inTypes(types, () => ({ schema: { type: 'string' } }))
        const content =
          one.body === undefined ? undefined : { ...halContent(subject.schemaOf(one.body)), ...texts }
        const isHidden = subject.hidesRows && status === '201'
        const description = isHidden ? `${one.description} ${UNREADABLE}` : one.description
        const described = response(description, one.headers, content)
        return one.links ? { ...described, links: links?.(one) } : described
      }),
      ...errorReferences(errorsOf(operation, path)),
    },
  }
}

const UNREADABLE = 'Without a body if access rules do not let the caller read the new resource.'

function inTypes(types: readonly string[], media: (index: number) => Schema): Schema {
  return Object.fromEntries(types.map((type, index) => [type, media(index)]))
}

/** The paths of a resource (SPEC §4), below the base path. */
export function resourcePathItems(
  resource: Resource,
  resources: readonly Resource[],
  all: readonly CollectionOperation[],
  examples: ResourceExamples,
  base: string,
): Schemas {
  const items = resourcePaths(resource, resources, all).map((place) => {
    const { path, parent, operations } = place
    const parentId = parent && identifierField(parent)
    const address = base + path.replace(':parentId', `{${parentId}}`).replace(/:(\w+)/g, '{$1}')
    const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string)
    const identifiers = [
      ...(parent ? [identifierParameter(parentId as string, parent, examples.parentId(parent))] : []),
      ...(named.includes('id') ? [identifierParameter('id', resource, examples.id)] : []),
      ...shared(...named.filter((name) => name !== 'parentId' && name !== 'id')),
    ]
    const isBelow = operations.some(({ below }) => below !== undefined)
    const [common, own] = isBelow ? [[], identifiers] : [identifiers, []]
    const methods = operations.map((operation) => {
      const parameters = [...own, ...queryParameters(operation, resources, resource)]
      const subject = { ...subjectOf(operation, resource, place, examples), parameters }
      return [operation.method.toLowerCase(), describe(operation, subject)]
    })
    return [address, { ...(common.length > 0 && { parameters: common }), ...Object.fromEntries(methods) }]
  })
  return Object.fromEntries(items)
}

function subjectOf(
  operation: ResourceOperation,
  resource: Resource,
  { path, parent, column }: ServedPath,
  examples: ResourceExamples,
): Omit<Subject, 'parameters'> {
  const { id, summary, action, query, below } = operation
  const { name, path: collection, owner } = resource
  const of = parent ? ` of ${nounWithArticle(parent)}` : ''
  const [suffix, noun] =
    query === 'list'
      ? [
          (column === undefined ? '' : parent?.name) + pascalCase(collection),
          `the ${plural(resource).toLowerCase()}${of}`,
        ]
      : [name, nounWithArticle(resource) + (owner && below === undefined ? of : '')]
  return {
    operationId: id + suffix,
    summary: `${summary} ${noun}`,
    description:
      `${descriptionOf(operation, resource)} Requires the scope \`${collection}:${action}\`.`.trimStart(),
    tag: collection,
    path,
    hidesRows: hidesRows(resource),
    requestBody: examples.requestBody,
    schemaOf: (body) => examples.schemaOf(body, parent),
    links({ body, links = {} }) {
      const place = body === 'page' ? `/_embedded/${collection}/0/id` : '/id'
      const key = owner && identifierField(owner)
      const parameters = { ...(key && { [key]: `$request.path.${key}` }), id: `$response.body#${place}` }
      return mapped(links, (description, id) => ({ operationId: id + name, description, parameters }))
    },
  }
}
