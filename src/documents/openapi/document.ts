import type { Resource } from '../../model/definition/resource.ts'
import { mapped } from '../../model/values.ts'
import { SERVICE_NAME } from '../../observability/service-name.ts'
import { allOperations, type Operations } from '../../rest/all-operations.ts'
import { deprecationDate } from '../../rest/api-versions.ts'
import { entryDocument } from '../../rest/operations/entry.ts'
import { basePath, type Deprecation, type RestSettings } from '../../rest/urls.ts'
import { errorExamples } from '../error-examples.ts'
import { resourceExamples } from './examples.ts'
import { components, type Schema, type Schemas } from './field-schema.ts'
import { resourcePathItems } from './operations.ts'
import { resourceParameters, sharedParameters } from './parameters.ts'
import { resourceSchemas } from './resource-schemas.ts'
import {
  componentResponses,
  EXAMPLE_ORIGIN,
  errorResponses,
  header,
  headerReferences,
  responseHeaders,
  usedIn,
} from './responses.ts'
import type { Seed } from './seeds.ts'
import { SERVICE_TAG, servicePaths } from './service-paths.ts'
import { batchExamples, sharedSchemas } from './shared-schemas.ts'

/** What a feature adds to the document. */
export interface DocumentedFeature {
  readonly operations?: Partial<Operations>
  readonly openapi?: OpenApiPart
}

export interface OpenApiPart {
  readonly schemas: Schemas
  readonly parameters?: Schemas
  /** Examples of the bodies that belong to no resource, by the names of their schemas. */
  examples(collection: string, base: string): Readonly<Record<string, object>>
}

interface DocumentOptions {
  readonly seeds?: readonly Seed[] | undefined
  readonly features?: readonly DocumentedFeature[]
  /** Of requests without a token; undefined if each needs one. */
  readonly anonymousScopes?: string | undefined
  /** Whether bodies have each of their media types, as validators need them, instead of the first. */
  readonly everyType?: boolean | undefined
}

/** @param resources as the version of the settings shows them */
export function openApiDocument(
  resources: readonly Resource[],
  settings: RestSettings,
  options: DocumentOptions = {},
): Schema {
  const made = makeDocument(resources, settings, options)
  const document = options.everyType ? made : withOneType(made)
  const { deprecation } = settings
  return deprecation ? deprecatedDocument(document, deprecation, basePath(settings)) : document
}

function makeDocument(
  resources: readonly Resource[],
  settings: RestSettings,
  { seeds = [], features = [], anonymousScopes }: DocumentOptions,
) {
  const { publicBaseUrl: origin = EXAMPLE_ORIGIN, maximumPageSize, license, contact } = settings
  const path = basePath(settings)
  const base = origin + path
  const operations = allOperations(features)
  const parts = features.flatMap(({ openapi }) => openapi ?? [])
  const examplesOf = new Map(
    resources.map((resource) => [resource, resourceExamples(resource, resources, seeds, base)]),
  )
  const items = [...examplesOf].map(([resource, examples]) =>
    resourcePathItems(resource, resources, operations.resource, examples, path),
  )
  const [{ path: collection } = { path: 'collection' }] = resources
  const owners = resources.filter(({ owner }) => !owner)
  const examples: Readonly<Record<string, object>> = Object.assign(
    { Entry: entryDocument(owners, base), ...batchExamples(collection) },
    ...parts.map((part) => part.examples(collection, base)),
  )
  const responseExamples = Object.assign(
    { ...examples },
    ...[...examplesOf.values()].map(({ responses }) => responses),
  )
  const paths: Schemas = Object.assign(
    servicePaths(resources, operations.service, examples, base, path),
    ...items,
  )
  const { errors } = errorExamples(resources, base)
  const responses = { ...errorResponses(paths), ...componentResponses(operations.resource) }
  const used = usedIn([paths, responses], 'examples')
  return {
    openapi: '3.1.1',
    info: {
      summary: 'A resource-oriented collection service with hypermedia links.',
      description: [settings.description, DESCRIPTION].filter(Boolean).join('\n\n'),
      ...(license && { license: { name: license, identifier: license } }),
      contact: contact ?? { name: 'The operator of this service' },
      title: settings.title ?? SERVICE_NAME,
      version: settings.apiVersion.slice(1),
    },
    servers: [{ url: origin, description: 'This service.' }],
    // An empty requirement makes the token optional (OpenAPI §4.8.1).
    security: [{ bearer: [] }, ...(anonymousScopes === undefined ? [] : [{}])],
    tags: [...resources.map(({ path: name, description }) => ({ name, description })), SERVICE_TAG],
    paths,
    components: {
      securitySchemes: { bearer: BEARER },
      parameters: components(
        'parameters',
        Object.assign(
          sharedParameters(maximumPageSize),
          ...parts.map(({ parameters }) => parameters),
          ...resources.map((resource) => resourceParameters(resource, resources)),
        ),
      ),
      headers: components('headers', responseHeaders(base)),
      examples: components('examples', {
        ...mapped(errors, ({ envelope }) => ({ value: envelope })),
        ...Object.fromEntries(
          [...used]
            .filter((name) => name in responseExamples)
            .map((name) => [name, { value: responseExamples[name] }]),
        ),
      }),
      responses: components('responses', responses),
      schemas: Object.assign(
        sharedSchemas(resources),
        ...parts.map(({ schemas }) => schemas),
        resourceSchemas(resources, settings),
      ) as Schemas,
    },
  }
}

const DESCRIPTION =
  'Collections of resources as JSON with HAL links. Every URL that supports GET also supports HEAD, and ' +
  'OPTIONS lists the supported methods; other methods get 405. `Accept` chooses among the media types of a response, ' +
  'besides those described: `application/hal+json`, `application/prs.hal-forms+json`, and `application/problem+json` for ' +
  'errors. Bodies can be sent in the first two as well. Where a token is needed, every response has the headers ' +
  'of the response `Error`. The same data is available as GraphQL at `/graphql`. `/errors` explains every error code.'

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'A JSON Web Token whose `scope` holds `<collection>:read` and `<collection>:write`, or `*:read` and ' +
    '`*:write` for all. Writing does not include reading.',
}

/**
 * Generators make a union of the media types of a response, or take the last one, and repeat the schema for each. So
 * bodies have the first, and descriptions name those that are not JSON.
 */
function withOneType<Document extends ReturnType<typeof makeDocument>>(document: Document): Document {
  const { paths, components } = document
  const reduced = (part: Schema): Schema => {
    const [first, ...others] = Object.entries((part['content'] ?? {}) as Schemas)
    if (!first) return part
    const texts = others.flatMap(([type]) => (/[/+]json$/.test(type) ? [] : `\`${type}\``))
    const note = texts.length > 0 && { description: `${part['description']} Also as ${texts.join(' or ')}.` }
    return { ...part, ...note, content: Object.fromEntries([first]) }
  }
  const { Problem: _, ...schemas } = components.schemas
  return {
    ...document,
    paths: mapped(paths, (item) =>
      changedOperations(item, ({ requestBody, responses, ...operation }) => ({
        ...operation,
        ...(requestBody !== undefined && { requestBody: reduced(requestBody as Schema) }),
        responses: mapped(responses as Schemas, reduced),
      })),
    ),
    components: { ...components, responses: mapped(components.responses, reduced), schemas },
  }
}

function changedOperations(item: Schema, change: (operation: Schema) => Schema): Schema {
  return mapped(item as Schemas, (member, key) => (key === 'parameters' ? member : change(member)))
}

/**
 * Marks operations as deprecated, and adds the deprecation headers to their responses.
 *
 * @param path the base path of the version; other paths belong to all versions
 */
function deprecatedDocument(
  document: ReturnType<typeof makeDocument>,
  { since, sunset, successor }: Deprecation,
  path: string,
): Schema {
  const { info, paths } = document
  const dayOf = (date: Date) => date.toISOString().slice(0, 10)
  const dates = `deprecated since ${dayOf(since)}${sunset ? ` and will be removed on ${dayOf(sunset)}` : ''}`
  const headers = {
    Deprecation: header('When this version was deprecated (RFC 9745).', deprecationDate(since)),
    ...(sunset && { Sunset: header('When this version will be removed (RFC 8594).', sunset.toUTCString()) }),
    Successor: header(
      'The same resource in the next version (RFC 5829).',
      `<${EXAMPLE_ORIGIN}${successor}/collection>; rel="successor-version"`,
    ),
  }
  // Responses without another Link refer to the component for the successor.
  const { Successor: Link, ...others } = headerReferences(Object.keys(headers))
  const responding = (response: Schema) =>
    '$ref' in response
      ? response
      : { ...response, headers: { ...others, Link, ...(response['headers'] as Schema) } }
  const deprecated = (item: Schema) =>
    changedOperations(item, ({ responses, ...operation }) => ({
      ...operation,
      deprecated: true,
      responses: mapped(responses as Schemas, responding),
    }))
  return {
    ...document,
    info: { ...info, description: `${info.description} This version is ${dates}. Use \`${successor}\`.` },
    paths: mapped(paths, (item, name) => (`${name}/`.startsWith(`${path}/`) ? deprecated(item) : item)),
    components: {
      ...document.components,
      headers: { ...document.components.headers, ...components('headers', headers) },
      responses: mapped(document.components.responses, responding),
    },
  }
}
