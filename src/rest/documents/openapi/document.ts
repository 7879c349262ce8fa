import { nestedReferences } from '../../../domain/model/relations.ts'
import type { Resource } from '../../../domain/model/resource.ts'
import { collectionErrors } from './collection-operations.ts'
import { errorExamples, errorResponses } from './error-responses.ts'
import { resourceExamples } from './examples.ts'
import type { Schema } from './field-schema.ts'
import { HEADERS } from './headers.ts'
import { ITEM_ERRORS } from './item-operations.ts'
import { pageSchemas } from './page-schemas.ts'
import { sharedParameters } from './parameters.ts'
import { resourcePathItems } from './resource-paths.ts'
import { resourceSchemas } from './resource-schemas.ts'
import { SERVICE_ERRORS, servicePaths } from './service-paths.ts'
import { sharedSchemas } from './shared-schemas.ts'

/** What a document says of the service that serves it. */
export interface DocumentSettings {
  /** The origin of the service, if it is known beforehand; otherwise that of whoever serves the document. */
  readonly publicBaseUrl: string | undefined
  readonly namespace: string
  readonly version: string
  readonly maximumPageSize: number
}

/** An OpenAPI 3.1 document of everything that is served over REST, made from the definitions. */
export function openApiDocument(resources: readonly Resource[], settings: DocumentSettings): Schema {
  const { publicBaseUrl, namespace, version, maximumPageSize } = settings
  const path = `/${namespace}/${version}`
  const base = (publicBaseUrl ?? EXAMPLE_ORIGIN) + path
  const [first] = resources as [Resource]
  const examples = (resource: Resource) => resourceExamples(resource, resources, base)
  const described = resources.map((resource) => resourcePathItems(resource, resources, examples(resource)))
  return {
    openapi: '3.1.1',
    info: INFO,
    servers: [{ url: publicBaseUrl ?? '/', description: 'This service.' }],
    security: [{ bearer: [] }],
    tags: [...resources.map(({ path: name, description }) => ({ name, description })), SERVICE_TAG],
    paths: {
      ...servicePaths(resources, base, path),
      ...Object.fromEntries(
        described.flatMap((paths) => Object.entries(paths)).map(([name, item]) => [path + name, item]),
      ),
    },
    components: {
      securitySchemes: { bearer: BEARER },
      parameters: sharedParameters(maximumPageSize),
      headers: HEADERS,
      examples: errorExamples(first),
      responses: errorResponses(errorLists(resources)),
      schemas: { ...sharedSchemas(), ...allSchemas(resources) },
    },
  }
}

/** Links are absolute, so examples need an origin even where none is set. */
const EXAMPLE_ORIGIN = 'http://127.0.0.1:3000'

function allSchemas(resources: readonly Resource[]): Record<string, Schema> {
  const parents = (resource: Resource) => [
    ...(resource.kind === 'singleton' ? [] : [resource.owner]),
    ...nestedReferences(resource).map(({ field }) => resources.find(({ path }) => path === field.to)),
  ]
  return Object.assign(
    {},
    ...resources.map((resource) => resourceSchemas(resource, resources)),
    ...resources.flatMap((resource) => parents(resource).map((parent) => pageSchemas(resource, parent))),
  )
}

function errorLists(resources: readonly Resource[]) {
  const collections = [undefined, resources[0]].flatMap((parent) => Object.values(collectionErrors(parent)))
  return [...collections, ...Object.values(ITEM_ERRORS), ...Object.values(SERVICE_ERRORS)]
}

const INFO = {
  title: 'halgraph',
  version: '1',
  summary: 'A resource-oriented collection service with hypermedia links.',
  description:
    'Collections of resources as JSON with HAL links. Every GET is answered to HEAD as well, and every ' +
    'address answers OPTIONS with the methods it has; any other method is 405. The same data is served as ' +
    'GraphQL at `/graphql`. Every error code is explained at `/errors`.',
  license: { name: 'MIT', identifier: 'MIT' },
  contact: { name: 'Whoever runs this service' },
}

const SERVICE_TAG = { name: 'service', description: 'The service itself: where to begin, and what it means.' }

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'A JSON Web Token whose `scope` holds `<collection>:read` and `<collection>:write`, or `*:read` and ' +
    '`*:write` for all. Writing does not include reading.',
}
