import type { Domain } from '../../model/domain.ts'
import type { Resource } from '../../model/resource.ts'
import { servedVersions } from '../../model/versions/versions.ts'
import { viewOf } from '../../model/versions/views.ts'
import { SERVICE_NAME } from '../../observability/service-name.ts'
import { resourcePaths } from '../../rest/resource-paths.ts'
import { basePath, type RestSettings } from '../../rest/urls.ts'
import { errorEnvelopes } from '../error-examples.ts'
import { deprecatedDocument } from './deprecation.ts'
import { resourceExamples, type Seed } from './examples.ts'
import { mapped, type Schema } from './field-schema.ts'
import { resourcePathItems } from './operations.ts'
import { sharedParameters } from './parameters.ts'
import { embeddedSchemas, pageSchemas, resourceSchemas } from './resource-schemas.ts'
import { errorResponses, headersBelow } from './responses.ts'
import { servicePaths } from './service-paths.ts'
import { sharedSchemas } from './shared-schemas.ts'
import { VERSION_PARAMETERS, versionResponses } from './versions.ts'

/** @param resources as the version of the settings shows them */
export function openApiDocument(
  resources: readonly Resource[],
  settings: RestSettings,
  seeds: readonly Seed[] = [],
): Schema {
  const { publicBaseUrl, maximumPageSize } = settings
  const path = basePath(settings)
  const base = (publicBaseUrl ?? EXAMPLE_ORIGIN) + path
  const items = resources.map((resource) =>
    resourcePathItems(resource, resources, resourceExamples(resource, resources, seeds, base), path),
  )
  const paths: Record<string, Schema> = Object.assign(servicePaths(resources, base, path), ...items)
  const document = {
    openapi: '3.1.1',
    info: {
      ...INFO,
      title: settings.title ?? SERVICE_NAME,
      version: settings.version.slice(1),
      description: [settings.description, INFO.description].filter(Boolean).join('\n\n'),
    },
    servers: [{ url: publicBaseUrl ?? EXAMPLE_ORIGIN, description: 'This service.' }],
    security: [{ bearer: [] }],
    tags: [...resources.map(({ path: name, description }) => ({ name, description })), SERVICE_TAG],
    paths,
    components: {
      securitySchemes: { bearer: BEARER },
      parameters: { ...sharedParameters(maximumPageSize), ...VERSION_PARAMETERS },
      headers: headersBelow(path),
      examples: mapped(errorEnvelopes(resources), (value) => ({ value })),
      responses: { ...errorResponses(paths), ...versionResponses(resources, path) },
      schemas: { ...sharedSchemas(resources), ...allSchemas(resources, settings) },
    },
  }
  return settings.deprecation ? deprecatedDocument(document, settings.deprecation, path) : document
}

/** Links are absolute, so a document needs an origin even if none is set. */
export const EXAMPLE_ORIGIN = 'http://127.0.0.1:3000'

function allSchemas(resources: readonly Resource[], settings: RestSettings): Record<string, Schema> {
  const lists = resources.flatMap((resource) =>
    resourcePaths(resource, resources)
      .filter(({ operations }) => operations.includes('list'))
      .map(({ parent }) => pageSchemas(resource, parent)),
  )
  const others = resources.map((resource) => resourceSchemas(resource, resources, settings))
  return Object.assign({}, ...others, ...lists, embeddedSchemas(resources))
}

const INFO = {
  summary: 'A resource-oriented collection service with hypermedia links.',
  description:
    'Collections of resources as JSON with HAL links. Every URL that supports GET also supports HEAD, and ' +
    'OPTIONS lists the supported methods; other methods get 405. The same data is available as GraphQL at ' +
    '`/graphql`. `/errors` explains every error code.',
  license: { name: 'MIT', identifier: 'MIT' },
  contact: { name: 'The operator of this service' },
}

const SERVICE_TAG = {
  name: 'service',
  description: 'The service itself: its entry document and its documentation.',
}

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'A JSON Web Token whose `scope` holds `<collection>:read` and `<collection>:write`, or `*:read` and ' +
    '`*:write` for all. Writing does not include reading.',
}

/** The text of docs/openapi.json: the default version with the default settings. */
export function committedDocument(domain: Domain, seeds: readonly Seed[]): string {
  const { shown: version } = servedVersions(domain, undefined)
  const { title, description, resources: unversioned } = domain
  const settings = {
    title,
    description,
    publicBaseUrl: undefined,
    namespace: 'api',
    version,
    maximumPageSize: 100,
  }
  const resources = unversioned.map((resource) => viewOf(resource, version))
  return `${JSON.stringify(openApiDocument(resources, settings, seeds), null, 2)}\n`
}
