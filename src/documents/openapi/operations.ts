import { pascalCase } from '../../graph/names.ts'
import { inWords, nounWithArticle } from '../../model/labels.ts'
import { identifierField, type Resource } from '../../model/resource.ts'
import { mapped } from '../../model/values.ts'
import type { Occasion } from '../../rest/hal.ts'
import {
  errorsOf,
  type OperationResponse,
  type ResourceOperation,
  type ServiceOperation,
} from '../../rest/operations/operation.ts'
import { type ResourcePath, resourcePaths } from '../../rest/operations/served.ts'
import type { ResourceExamples } from './examples.ts'
import { type Schema, type Schemas, schemaNamed } from './field-schema.ts'
import { identifierParameter, queryParameters, shared } from './parameters.ts'
import { pageName } from './resource-schemas.ts'
import { errorReferences, halContent, response, textContent } from './responses.ts'

/** What an operation is about. */
interface Subject {
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly tag: string
  readonly path: string
  /** Besides headers. */
  readonly parameters: readonly Schema[]
  readonly input: { readonly schema: string; readonly example: unknown }
  /** The body of a response, by its name in the record of the operation. */
  content(body: string): Schema
  links?(response: OperationResponse): Schemas
}

export function describe(operation: ResourceOperation | ServiceOperation, subject: Subject): Schema {
  const { headers = [], body, types = [], responses } = operation
  const { operationId, summary, description, tag, path, input } = subject
  const parameters = [...subject.parameters, ...shared(...headers)]
  const media = { schema: schemaNamed(input.schema), example: input.example }
  return {
    operationId,
    summary,
    description,
    tags: [tag],
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: Object.fromEntries(body.types.map((type) => [type, media])),
      },
    }),
    responses: {
      ...mapped(responses, (one) => {
        if (one.component !== undefined) return { $ref: `#/components/responses/${one.component}` }
        const content =
          one.body === undefined ? undefined : { ...subject.content(one.body), ...textContent(types) }
        return {
          ...response(one.description, one.headers, content),
          ...(one.links && { links: subject.links?.(one) }),
        }
      }),
      ...errorReferences(errorsOf(operation, path)),
    },
  }
}

/** The paths of a resource (SPEC §4), below the base path. */
export function resourcePathItems(
  resource: Resource,
  resources: readonly Resource[],
  examples: ResourceExamples,
  base: string,
): Schemas {
  const items = resourcePaths(resource, resources).map((place) => {
    const { path, parent, operations } = place
    const parentId = parent && identifierField(parent)
    const address = base + path.replace(':parentId', `{${parentId}}`).replace(/:(\w+)/g, '{$1}')
    const identifiers = [
      ...(parent ? [identifierParameter(parentId as string, parent, examples.parentId(parent))] : []),
      ...(/:id\b/.test(path) ? [identifierParameter('id', resource, examples.id)] : []),
      ...(path.endsWith(':version') ? shared('version') : []),
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
  { id, summary, description, action, query, below, method, body }: ResourceOperation,
  resource: Resource,
  { path, parent, column }: ResourcePath,
  examples: ResourceExamples,
): Omit<Subject, 'parameters'> {
  const { name, path: collection, owner, listed } = resource
  const of = parent ? ` of ${nounWithArticle(parent)}` : ''
  const one = nounWithArticle(resource) + (owner && below === undefined ? of : '')
  const [about, noun] =
    query === 'list'
      ? [
          (column === undefined ? '' : parent?.name) + pascalCase(collection),
          `the ${inWords(collection).toLowerCase()}${of}`,
        ]
      : [name, one]
  const said = typeof description === 'function' ? description(resource) : description
  const scope = `Requires the scope \`${collection}:${action}\`.`
  const { input, patch, replacement, templates, representation } = examples
  const inputs = { POST: input, PUT: { ...(listed && { id: examples.id }), ...replacement }, PATCH: patch }
  return {
    operationId: id + about,
    summary: `${summary} ${noun}`,
    description: said === undefined ? scope : `${said} ${scope}`,
    tag: collection,
    path,
    input: { schema: name + body?.schema, example: inputs[method as keyof typeof inputs] },
    content(body) {
      if (body === 'page')
        return halContent(pageName(resource, parent), examples.page(parent), examples.listTemplates(parent))
      return body === 'read'
        ? halContent(name, representation('read'), templates)
        : halContent(`${name}Created`, representation(body as Occasion))
    },
    links({ body, links = {} }) {
      const place = body === 'page' ? `/_embedded/${collection}/0/id` : '/id'
      const key = owner && identifierField(owner)
      const parameters = { ...(key && { [key]: `$request.path.${key}` }), id: `$response.body#${place}` }
      return mapped(links, (description, id) => ({ operationId: id + name, description, parameters }))
    },
  }
}
