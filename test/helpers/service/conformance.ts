import { dereference, validate as errorsOf } from '@cfworker/json-schema'
import { openApiDocument } from '../../../src/documents/openapi/document.ts'
import { PROBLEM } from '../../../src/http/errors.ts'
import { RESPONSE_HEADERS } from '../../../src/http/headers.ts'
import { type Domain, servedApiVersions } from '../../../src/model/definition/domain.ts'
import type { Resource } from '../../../src/model/definition/resource.ts'
import { apiVersions } from '../../../src/rest/api-versions.ts'
import { basePath, type RestSettings } from '../../../src/rest/urls.ts'
import type { Settings } from '../../../src/service/settings/settings.ts'
import { domain as tested } from '../domain/domain.ts'
import type { Answer, Json } from './client.ts'
import { servedFeatures } from './features.ts'

/** The headers of HTTP and browsers that any response can have. OpenAPI does not describe them for each operation. */
const COMMON_HEADERS = `
  Accept-Patch Access-Control-Allow-Headers Access-Control-Allow-Methods Access-Control-Allow-Origin
  Access-Control-Expose-Headers Access-Control-Max-Age Allow Cache-Control Connection Content-Encoding
  Content-Length Content-Security-Policy Content-Type Cross-Origin-Opener-Policy Cross-Origin-Resource-Policy
  Date Deprecation GraphQL-Operation Keep-Alive Origin-Agent-Cluster Referrer-Policy Server-Timing
  Strict-Transport-Security Sunset Transfer-Encoding X-Accel-Buffering X-Content-Type-Options
  X-DNS-Prefetch-Control X-Download-Options X-Frame-Options X-Permitted-Cross-Domain-Policies X-XSS-Protection`
  .trim()
  .split(/\s+/)

/** Holds an answer of the service against the OpenAPI document: status, headers, media type, body. */
export type CheckConformance = (method: string, url: string, answer: Answer) => void

/** What a failed check throws: the request, the answer, and what the document says otherwise. */
export class ConformanceError extends Error {
  override name = 'ConformanceError'
}

/**
 * A check of answers against the OpenAPI documents of a service with these settings, one for each version of the
 * API. An answer to an address, a method or an identifier that the document does not know must be an error envelope or a problem.
 */
export function createConformanceCheck(settings: Settings, domain: Domain = tested): CheckConformance {
  const { namespace, apiVersion, maximumPageSize } = settings
  const key = JSON.stringify([namespace, apiVersion, maximumPageSize])
  const made = checksOfDomains.get(domain) ?? new Map<string, CheckConformance>()
  checksOfDomains.set(domain, made)
  return (method, url, answer) => {
    const check = made.get(key) ?? makeCheck(settings, domain)
    made.set(key, check)
    check(method, url, answer)
  }
}

/** Made at the first answer, because many tests start a service and ask it little. */
const checksOfDomains = new WeakMap<Domain, Map<string, CheckConformance>>()

function makeCheck(settings: Settings, domain: Domain): CheckConformance {
  const { namespace, apiVersion: configured, maximumPageSize } = settings
  const { versions, shown: apiVersion } = servedApiVersions(domain, configured)
  const documentSettings = { publicBaseUrl: undefined, namespace, apiVersion, maximumPageSize }
  const checks = apiVersions(domain.resources, versions, documentSettings).map((served) =>
    checkOfVersion(served.resources, served.settings),
  )
  return (method, url, answer) => {
    for (const check of checks) check(method, url, answer)
  }
}

/** The closed tables of response headers. */
const KNOWN_HEADERS = new Set(
  [...Object.keys(RESPONSE_HEADERS), ...COMMON_HEADERS].map((name) => name.toLowerCase()),
)

/** By status. */
const REQUIRED_OF: Readonly<Record<number, string>> = {
  401: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
}

function checkOfVersion(resources: readonly Resource[], settings: RestSettings): CheckConformance {
  const document = openApiDocument(resources, settings, {
    features: servedFeatures().features.map((create) => create(resources)),
    everyType: true,
  }) as Json
  // Interpreted: compiling the schemas would take a process a second.
  const schemas = {
    openapi: schemasOf(document),
    partial: schemasOf(withoutRequiredFields(document)),
  }
  const paths = Object.entries<Json>(document.paths).map(([path, item]) => ({
    path,
    item,
    pattern: patternOf(path),
  }))
  const base = basePath(settings)
  const resolve = (value: Json): Json =>
    value?.$ref
      ? (value.$ref as string)
          .slice(2)
          .split('/')
          .reduce((at, key) => at[key], document)
      : value

  return (method, url, answer) => {
    const { pathname, searchParams } = new URL(url)
    const unknown = [...answer.headers.keys()].filter((name) => !KNOWN_HEADERS.has(name))
    if (unknown.length > 0) throw new ConformanceError(`${url} has the unknown header ${unknown}`)
    const found = paths.filter(({ pattern }) => pattern.test(pathname)).sort(byVariables)[0]
    const isBelowBase = pathname === base || pathname.startsWith(`${base}/`)
    if (!found && !isBelowBase) return
    // What a browser gets is a page for people and no part of the interface.
    const isPage = answer.headers.get('content-type')?.startsWith('text/html')
    if (isPage && (answer.status === 200 || !isBelowBase)) return
    const fail = (problem: string): never => {
      const text = `${method} ${url} was answered with ${answer.status}: ${problem}\n${answer.text.slice(0, 2000)}`
      throw new ConformanceError(text)
    }
    const operation = found?.item[(method === 'HEAD' ? 'GET' : method).toLowerCase()]
    if (method === 'OPTIONS' && answer.status < 400) return
    if (!operation) return checkEnvelope(method, answer, fail)
    // Node refuses it before there is a request that could be described.
    if (answer.status === 431) return checkEnvelope(method, answer, fail)
    const usual = resolve(operation.responses.default)
    const isUsual = usual.description.match(/^\d{3}/gm).includes(String(answer.status))
    const response = resolve(operation.responses[answer.status]) ?? (isUsual ? usual : undefined)
    if (!response) return void fail(`the document has only ${Object.keys(operation.responses).join(', ')}`)
    const common = operation.security ? {} : usual.headers
    for (const [name, reference] of Object.entries<Json>({ ...common, ...response.headers })) {
      const isMissing = answer.headers.get(name) === null
      const isRequired = resolve(reference).required || REQUIRED_OF[answer.status] === name
      if (isMissing && isRequired) fail(`the header ${name} is missing`)
    }
    if (answer.status === 403 && answer.text !== '') {
      const [, scope] = /token lacks the scope ([\w*-]+:[\w*-]+)\./.exec(answer.text) ?? []
      const challenge = scope && `Bearer error="insufficient_scope", scope="${scope}"`
      const isOfAny = !scope && answer.text.includes('token lacks the scope')
      if (!isOfAny && (answer.headers.get('www-authenticate') ?? undefined) !== challenge)
        fail(`the challenge is not ${challenge}`)
    }
    const isMinimal = answer.headers.get('preference-applied')?.includes('return=minimal')
    const mayBeEmpty = isMinimal || response.description.includes('Without a body')
    if (method === 'HEAD' || (mayBeEmpty && answer.status < 400 && answer.text === '')) return
    const isPartial = searchParams.has('fields') || searchParams.has('fields[]')
    const documents = isPartial ? 'partial' : 'openapi'
    checkBody(found?.path as string, operation, response, answer, fail, documents)
  }

  function checkEnvelope(method: string, answer: Answer, fail: (problem: string) => never): void {
    if (answer.status < 400) fail('the document knows no such operation')
    const isProblem = answer.headers.get('content-type') === PROBLEM
    const schema = isProblem ? 'Problem' : 'ErrorEnvelope'
    if (method !== 'HEAD') validate(`openapi#/components/schemas/${schema}`, answer, fail)
  }

  function checkBody(
    path: string,
    operation: Json,
    response: Json,
    answer: Answer,
    fail: (p: string) => never,
    described: string,
  ) {
    if (!response.content) return void (answer.text !== '' && fail('it should have no body'))
    const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
    if (!response.content[type]) fail(`the media type ${type} is not in the document`)
    const schema = response.content[type].schema
    if (schema.$ref) return validate(described + schema.$ref, answer, fail)
    if (answer.status < 400 && operation.operationId === undefined) fail(`no schema at ${path}`)
  }

  function validate(reference: string, answer: Answer, fail: (problem: string) => never): void {
    const [described, place] = reference.split('#') as ['openapi' | 'partial', string]
    const schema = { $ref: `${BASE}#${place}` }
    const { valid, errors } = errorsOf(answer.body, schema, '2020-12', schemas[described], false)
    if (!valid) fail(errors.map(({ instanceLocation, error }) => `${instanceLocation} ${error}`).join('\n'))
  }
}

const BASE = 'https://halgraph.example/'

/** The schemas of a document by their addresses. Examples are no schemas, but may look like them. */
function schemasOf({ components: { schemas } }: Json): ReturnType<typeof dereference> {
  const text = JSON.stringify(schemas, (name, value) => (/^examples?$/.test(name) ? undefined : value))
  return dereference({ $id: BASE, components: { schemas: JSON.parse(text) } } as Json)
}

/** What describes answers to requests that name some fields: the schemas say that they describe the others. */
function withoutRequiredFields(document: Json): Json {
  const copy = structuredClone(document)
  for (const schema of Object.values<Json>(copy.components.schemas)) {
    if (schema.required?.includes('id')) schema.required = ['id']
  }
  return copy
}

/** Fixed segments win over variables, as they do in OpenAPI (§4.8.8.1). */
function byVariables(one: { path: string }, other: { path: string }): number {
  return one.path.split('{').length - other.path.split('{').length
}

function patternOf(path: string): RegExp {
  const escaped = path.replace(/[.~]/g, '\\$&')
  return new RegExp(`^${escaped.replace(/\{[^}]+\}/g, '[^/]+')}$`)
}
