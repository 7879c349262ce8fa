import type { Deprecation } from '../../rest/urls.ts'
import { deprecationDate } from '../../rest/versions.ts'
import { mapped, type Schema } from './field-schema.ts'
import { header, headerReferences } from './responses.ts'

/** The parts of an OpenAPI document that differ in a deprecated version. */
interface Document {
  readonly info: { readonly description: string }
  readonly paths: Readonly<Record<string, Schema>>
  readonly components: Readonly<Record<'headers' | 'responses', Readonly<Record<string, Schema>>>>
}

/**
 * The document of a deprecated version, whose operations are deprecated and whose responses have deprecation headers.
 *
 * @param path the base path of the version; other paths belong to all versions
 */
export function deprecatedDocument(document: Document, deprecation: Deprecation, path: string): Schema {
  const { info, paths, components } = document
  const { since, sunset, successor } = deprecation
  const dates = `deprecated since ${dayOf(since)}${sunset ? ` and will be removed on ${dayOf(sunset)}` : ''}`
  const headers = {
    Deprecation: header('Since when clients should leave this version (RFC 9745).', deprecationDate(since)),
    ...(sunset && { Sunset: header('When this version will be removed (RFC 8594).', sunset.toUTCString()) }),
    SuccessorLink: header(
      'The same resource in the next version (RFC 5829).',
      `<http://127.0.0.1:3000${successor}/collection>; rel="successor-version"`,
    ),
  }
  // Responses without another Link refer to the component for the successor.
  const { SuccessorLink: Link, ...others } = headerReferences(Object.keys(headers))
  const responding = (response: Schema) =>
    '$ref' in response
      ? response
      : { ...response, headers: { ...others, Link, ...(response['headers'] as Schema) } }
  const deprecated = ({ responses, ...operation }: Schema) => ({
    ...operation,
    deprecated: true,
    responses: mapped(responses as Record<string, Schema>, responding),
  })
  return {
    ...document,
    info: { ...info, description: `${info.description} This version is ${dates}. Use \`${successor}\`.` },
    paths: mapped(paths, (item, name) =>
      `${name}/`.startsWith(`${path}/`)
        ? mapped(item as Record<string, Schema>, (member, key) =>
            key === 'parameters' ? member : deprecated(member),
          )
        : item,
    ),
    components: {
      ...components,
      headers: { ...components.headers, ...headers },
      responses: mapped(components.responses, responding),
    },
  }
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
