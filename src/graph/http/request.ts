import type { Context } from 'koa'
import { DomainError, errorAt } from '../../model/errors.ts'
import { isObject } from '../../model/values.ts'
import { MAXIMUM_DOCUMENT_BYTES } from './limits.ts'
import type { PersistedOperations } from './persisted-operations.ts'

export interface DocumentPolicy {
  readonly persisted: PersistedOperations
  /** Whether only persisted operations may be run. */
  readonly persistedOnly: boolean
}

/** The parameters of a request (GraphQL over HTTP §5), in a URL or in a body as Apollo expects them. */
export interface RequestParameters {
  readonly search: string
  readonly body: unknown
}

/** Far more levels than any input has, and far fewer than the stack allows. */
const MAXIMUM_NESTING = 32

/** Values in all variables, including objects and lists. Coercing each takes microseconds. */
const MAXIMUM_VALUES = 5_000

/** Objects in all variables. Coercing one also visits the fields that it lacks. A filter has few objects. */
const MAXIMUM_OBJECTS = 500

/**
 * The parameters of a GET. The identifier of a persisted operation is replaced by its document.
 *
 * @throws {DomainError} as {@link documentOf}; VALIDATION_FAILED (400) for variables that are too large
 */
export function parametersOfGet(ctx: Context, policy: DocumentPolicy): RequestParameters {
  const search = new URLSearchParams(ctx.search)
  refuseLargeVariables(parsed(search.get('variables')))
  const query = documentOf(Object.fromEntries(search), policy)
  if (query !== undefined) search.set('query', query)
  return { search: `?${search}`, body: undefined }
}

/**
 * The parameters of a POST. The identifier of a persisted operation is replaced by its document.
 *
 * @throws {DomainError} as {@link documentOf}; VALIDATION_FAILED (400) for a body that is not a request
 */
export function parametersOfPost(body: unknown, policy: DocumentPolicy): RequestParameters {
  if (!isObject(body)) {
    const message = 'The body must be one request, a JSON object; requests cannot be batched.'
    throw errorAt('', 'INVALID_TYPE', 'VALIDATION_FAILED', message)
  }
  refuseLargeVariables(body['variables'])
  const query = documentOf(body, policy)
  return { search: '', body: query === undefined ? body : { ...body, query } }
}

/**
 * The document of a request: the one sent, or the persisted one that `id` or `documentId` names.
 *
 * @throws {DomainError} RESOURCE_NOT_FOUND (404) for an unknown identifier, ACCESS_DENIED (403) for a
 *   document where only persisted ones may be run, PAYLOAD_TOO_LARGE (413) for one that is too long
 */
function documentOf(
  { query, id, documentId = id }: Readonly<Record<string, unknown>>,
  { persisted, persistedOnly }: DocumentPolicy,
): string | undefined {
  if (documentId !== undefined && documentId !== null) return persistedDocument(documentId, persisted)
  if (persistedOnly) {
    const message = 'Only the persisted operations can be run here, by their id.'
    throw errorAt('query', 'LIMIT_EXCEEDED', 'ACCESS_DENIED', message)
  }
  if (typeof query === 'string' && Buffer.byteLength(query) > MAXIMUM_DOCUMENT_BYTES) {
    const message = `A document must not be longer than ${MAXIMUM_DOCUMENT_BYTES} bytes.`
    throw errorAt('query', 'LIMIT_EXCEEDED', 'PAYLOAD_TOO_LARGE', message)
  }
  return undefined
}

function persistedDocument(identifier: unknown, persisted: PersistedOperations): string {
  const text = typeof identifier === 'string' ? persisted.find(identifier) : undefined
  if (text !== undefined) return text
  const name = JSON.stringify(String(identifier).slice(0, 100))
  throw new DomainError('RESOURCE_NOT_FOUND', `There is no persisted operation ${name}.`, [
    { field: 'id', code: 'INVALID_VALUE', message: 'It must be the name of a persisted operation.' },
  ])
}

/** Runs before coercion, which takes time for each value and memory for each error. */
function refuseLargeVariables(variables: unknown): void {
  if (isDeeperThan(variables, MAXIMUM_NESTING)) {
    const message = `Variables must not be nested deeper than ${MAXIMUM_NESTING} levels.`
    throw errorAt('variables', 'LIMIT_EXCEEDED', 'VALIDATION_FAILED', message)
  }
  const message = tooMany(variables)
  if (message !== undefined) throw errorAt('variables', 'LIMIT_EXCEEDED', 'VALIDATION_FAILED', message)
}

/** Apollo reports variables that are not JSON. */
function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1))
}

/** Which limit the variables exceed, if any. Stops counting there. */
function tooMany(variables: unknown): string | undefined {
  let [values, objects] = [0, 0]
  const isBeyond = (value: unknown): boolean => {
    values += 1
    if (isObject(value)) objects += 1
    if (values > MAXIMUM_VALUES || objects > MAXIMUM_OBJECTS) return true
    return typeof value === 'object' && value !== null && Object.values(value).some(isBeyond)
  }
  if (!isBeyond(variables)) return undefined
  const limit = objects > MAXIMUM_OBJECTS ? `${MAXIMUM_OBJECTS} objects` : `${MAXIMUM_VALUES} values`
  return `Variables must not hold more than ${limit}.`
}
