import type { Executor } from '../graph/execution/operation.ts'
import type { LinkRelation, RequestHeader, ResponseHeader } from '../http/headers.ts'
import type { Handler, Route } from '../http/routes.ts'
import type { Action, Caller } from '../model/access/caller.ts'
import type { Resource, Values } from '../model/definition/resource.ts'
import { ABSENT, type ErrorCode } from '../model/errors.ts'
import type { ResourceKey } from '../model/rows/identifiers.ts'
import type { RestSettings, Urls } from './urls.ts'

/** What the operations of an interface have in common. */
export interface RestParts {
  readonly resources: readonly Resource[]
  readonly executor: Executor
  readonly settings: RestSettings
  readonly links: readonly HeaderLink[]
}

/** A link in the header of each list or each resource, also of a deleted one (RFC 8288). */
export interface HeaderLink {
  readonly on: 'list' | 'resource'
  readonly relation: LinkRelation
  /** What it needs of a page in GraphQL. */
  readonly selects?: string
  /** The target; undefined for no link. */
  target(of: LinkContext): string | undefined
}

export interface LinkContext {
  readonly resource: Resource
  readonly caller: Caller
  readonly urls: Urls
  readonly params: Partial<ResourceKey>
  /** The page, and its maximum number of items. */
  readonly page?: { readonly data: Values; readonly limit: number }
}

/**
 * What clients can do with one method at one URL. Everything about it is said here and nowhere else: routes, OpenAPI,
 * HAL-FORMS, OPTIONS and batches read it.
 */
export interface Operation<Subject> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The operationId in OpenAPI. For a resource, its beginning: `list` of `listPlanets`. */
  readonly id: string
  /** For a resource, the beginning: `List` of `List the planets`. */
  readonly summary: string
  readonly description?: string | ((subject: Subject) => string)
  /** Those of lists, `fields` and `embed`, or these with descriptions, which are null for components of OpenAPI. */
  readonly query?: 'list' | 'selection' | Readonly<Record<string, string | null>>
  readonly headers?: readonly RequestHeader[]
  /** What the body is (its example in OpenAPI, or the name of its schema), and in which media types. */
  readonly body?: { readonly content: string; readonly types: readonly string[] }
  /** By status. */
  readonly responses: Readonly<Record<string, OperationResponse>>
  /** The media types of the responses besides JSON and HAL. */
  readonly types?: readonly string[]
  /** Besides those of {@link errorsOf}. */
  readonly errors?: readonly ErrorCode[]
}

export interface OperationResponse {
  readonly description: string
  readonly headers?: readonly ResponseHeader[]
  /** A page of the list, the resource with the links of an occasion, or the name of a schema. By default no body. */
  readonly body?: string
  /** What the identifier in the body is good for, by the operation. */
  readonly links?: Readonly<Record<string, string>>
  /** The component in OpenAPI, if the response is the same for all resources. */
  readonly component?: string
}

/** An operation on the resources of each collection, which requires a scope of the collection. */
export interface ResourceOperation extends Operation<Resource> {
  readonly action: Action
  readonly at: 'collection' | 'resource'
  /** The end of the path: `/versions/:version`. */
  readonly below?: string
  /** Only resources with this property have the operation. */
  readonly requires?: 'listed' | 'replaceable'
  readonly forms?: readonly Form[]
}

/** An operation of the service itself. */
export interface ServiceOperation extends Operation<{ readonly base: string }> {
  /** Below the base path. */
  readonly path: string
  /** @param served the routes of the resources */
  handler(parts: RestParts, served: readonly Route[]): Handler
}

export interface ResourcePath {
  /** Below `{base}`, with the parameters `:parentId` and `:id`. */
  readonly path: string
  /** The resource that `:parentId` identifies. */
  readonly parent: Resource | undefined
  /** For a list of resources that refer to the parent, the referring column. */
  readonly column?: string
}

/** A template of HAL-FORMS for the operation. */
export interface Form {
  /** The representations that have it. Those of the owner have it for a singleton. */
  readonly on: 'list' | 'resource' | 'owner'
  /** By default the path of the resource. `default` is what clients use without a key. */
  readonly key?: string
  title(resource: Resource): string
  /** The fields that clients can set, those without any being required, all, or none. */
  readonly fields: 'writable' | 'optional' | 'all' | 'none'
  /** By default the first of the body. */
  readonly contentType?: string
}

export function descriptionOf<Of>({ description = '' }: Operation<Of>, subject: Of): string {
  return typeof description === 'function' ? description(subject) : description
}

export function hasOperation(resource: Resource, { requires }: ResourceOperation): boolean {
  return requires === undefined || resource[requires]
}

/** The codes of errors: of a caller, a scope, a body and the identifiers in a path, and those of the operation itself. */
export function errorsOf(operation: ResourceOperation | ServiceOperation, path: string): ErrorCode[] {
  const { body, errors = [] } = operation
  const scope: ErrorCode[] = 'action' in operation ? ['ACCESS_DENIED'] : []
  return [...CALLER, ...scope, ...(body ? BODY : []), ...(path.includes(':') ? ABSENT : []), ...errors]
}

const CALLER: readonly ErrorCode[] = ['AUTHENTICATION_REQUIRED', 'NOT_ACCEPTABLE']

const BODY: readonly ErrorCode[] = [
  'MALFORMED_JSON',
  'VALIDATION_FAILED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RESOURCE_ALREADY_EXISTS',
  'BUSINESS_RULE_VIOLATION',
]
