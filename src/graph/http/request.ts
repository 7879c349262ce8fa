import type { Context } from '../../http/context.ts'
import { DomainError, errorAt } from '../../model/errors.ts'
import { isObject } from '../../model/values.ts'
import { MAXIMUM_DOCUMENT_BYTES } from './document-checks.ts'
import type { PersistedOperations } from './persisted-operations.ts'

export interface DocumentPolicy {
  readonly persisted: PersistedOperations
  readonly persistedOnly: boolean
}

/** The parameters of a request (GraphQL over HTTP §5), in a URL or in a body as Apollo expects them. */
export interface RequestParameters {
  readonly search: string
  readonly body: unknown
  readonly query: unknown
  readonly operationName: unknown
}

/** Far deeper than any input, and far below the limit of the stack. */
const MAXIMUM_NESTING = 32

/** Values in all variables, including objects and lists. Coercing each takes microseconds. */
const MAXIMUM_VALUES = 5_000

/** Objects in all variables. Coercing one visits all fields of its type. A filter has few objects. */
const MAXIMUM_OBJECTS = 500

/** @throws {DomainError} as {@link documentOf}; VALIDATION_FAILED (400) for variables that are too large */
export function parametersOfGet(ctx: Context, policy: DocumentPolicy): RequestParameters {
  const search = new URLSearchParams(ctx.search)
  refuseLargeVariables(parsed(search.get('variables')))
  const query = documentOf(Object.fromEntries(search), policy)
  if (query !== undefined) search.set('query', query)
  const operationName = search.get('operationName')
  return { search: `?${search}`, body: undefined, query: search.get('query'), operationName }
}

/** @throws {DomainError} as {@link documentOf}; VALIDATION_FAILED (400) for a body that is not a request */
export function parametersOfPost(body: unknown, policy: DocumentPolicy): RequestParameters {
  if (!isObject(body)) {
    const message = 'The body must be one request, as a JSON object. Batching is not supported.'
    throw errorAt('', 'INVALID_TYPE', 'VALIDATION_FAILED', message)
  }
  refuseLargeVariables(body['variables'])
  const query = documentOf(body, policy) ?? body['query']
  return { search: '', body: { ...body, query }, query, operationName: body['operationName'] }
}

/**
 * The document of a request: the one sent, or the persisted one that `id` or `documentId` names.
 *
 * @throws {DomainError} RESOURCE_NOT_FOUND (404) for an unknown identifier, ACCESS_DENIED (403) for a
 *   document if only persisted ones are allowed, PAYLOAD_TOO_LARGE (413) for one that is too long
 */
function documentOf(
  { query, id, documentId = id }: Readonly<Record<string, unknown>>,
  { persisted, persistedOnly }: DocumentPolicy,
): string | undefined {
  if (documentId !== undefined && documentId !== null) return persistedDocument(documentId, persisted)
  if (persistedOnly) {
    const message = 'Only persisted operations are allowed. Send the id of one.'
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
  throw new DomainError('RESOURCE_NOT_FOUND', `Unknown persisted operation ${name}.`, [
    { field: 'id', code: 'INVALID_VALUE', message: 'It must be the name of a persisted operation.' },
  ])
}

/** Runs before coercion, which takes time for each value and memory for each error. */
function refuseLargeVariables(variables: unknown): void {
  let [values, objects] = [0, 0]
  const visit = (value: unknown, level: number) => {
    values += 1
    if (typeof value !== 'object' || value === null) return
    if (isObject(value)) objects += 1
    if (level > MAXIMUM_NESTING) refuse(`be nested deeper than ${MAXIMUM_NESTING} levels`)
    if (objects > MAXIMUM_OBJECTS) refuse(`have more than ${MAXIMUM_OBJECTS} objects`)
    for (const inner of Object.values(value)) {
      if (values >= MAXIMUM_VALUES) refuse(`have more than ${MAXIMUM_VALUES} values`)
      visit(inner, level + 1)
    }
  }
  visit(variables, 1)
}

function refuse(action: string): never {
  throw errorAt('variables', 'LIMIT_EXCEEDED', 'VALIDATION_FAILED', `Variables must not ${action}.`)
}

/** Apollo reports variables that are not JSON. */
function parsed(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
