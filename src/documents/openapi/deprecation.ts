import type { Deprecation } from '../../rest/urls.ts'
import { deprecationDate } from '../../rest/versions.ts'
import type { Schema } from './field-schema.ts'

/** The parts of an OpenAPI document that differ in a deprecated version. */
interface Document {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, Schema>>
  readonly components: {
    readonly headers: Readonly<Record<string, Schema>>
    readonly responses: Readonly<Record<string, Schema>>
  }
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/**
 * The document of a deprecated version, whose operations are deprecated and whose responses have deprecation headers.
 *
 * @param path the base path of the version; other paths belong to all versions
 */
export function deprecatedDocument(document: Document, deprecation: Deprecation, path: string): Schema {
  const { info, paths, components } = document
  const { since, sunset, successor } = deprecation
  const dates = `deprecated since ${dayOf(since)}${sunset ? ` and will be removed on ${dayOf(sunset)}` : ''}`
  const items = Object.entries(paths).map(([name, item]) => [
    name,
    name === path || name.startsWith(`${path}/`) ? deprecatedItem(item, deprecation) : item,
  ])
  const errors = Object.entries(components.responses).map(([name, response]) => [
    name,
    withHeaders(response, deprecation),
  ])
  return {
    ...document,
    info: { ...info, description: `${info.description} This version is ${dates}. Use \`${successor}\`.` },
    paths: Object.fromEntries(items),
    components: {
      ...components,
      headers: { ...components.headers, ...deprecationHeaders(deprecation) },
      responses: Object.fromEntries(errors),
    },
  }
}

function deprecatedItem(item: Schema, deprecation: Deprecation): Schema {
  const operations = METHODS.filter((method) => method in item).map((method) => {
    const { responses, ...operation } = item[method] as { responses: Record<string, Schema> }
    const described = Object.entries(responses).map(([status, response]) => [
      status,
      '$ref' in response ? response : withHeaders(response, deprecation),
    ])
    return [method, { ...operation, deprecated: true, responses: Object.fromEntries(described) }]
  })
  return { ...item, ...Object.fromEntries(operations) }
}

function withHeaders(response: Schema, deprecation: Deprecation): Schema {
  const names = Object.keys(deprecationHeaders(deprecation)).map((name) => [
    name === SUCCESSOR ? 'Link' : name,
    { $ref: `#/components/headers/${name}` },
  ])
  return { ...response, headers: { ...Object.fromEntries(names), ...(response['headers'] as Schema) } }
}

/** The component for the Link of responses without another Link. */
const SUCCESSOR = 'SuccessorLink'

function deprecationHeaders({ since, sunset, successor }: Deprecation): Record<string, Schema> {
  const header = (description: string, example: string) => ({
    description,
    schema: { type: 'string' },
    example,
  })
  return {
    Deprecation: header('Since when clients should leave this version (RFC 9745).', deprecationDate(since)),
    ...(sunset && {
      Sunset: header('When this version will be removed (RFC 8594).', sunset.toUTCString()),
    }),
    [SUCCESSOR]: header(
      'The same resource in the next version (RFC 5829).',
      `<http://127.0.0.1:3000${successor}/collection>; rel="successor-version"`,
    ),
  }
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
