import type { IncomingHttpHeaders } from 'node:http'
import { callerOf } from '../../http/auth/authenticate.ts'
import type { Context } from '../../http/context.ts'
import { parsePreferences, requestHeader } from '../../http/headers.ts'
import { JSON_TYPES, readJsonBody } from '../../http/json.ts'
import { refuseLongHeaders } from '../../http/negotiation.ts'
import { type Route, routeFinder } from '../../http/routes.ts'
import { authorize } from '../../model/access/caller.ts'
import type { Values } from '../../model/definition/resource.ts'
import { type DetailCode, DomainError, type ErrorCode, errorAt, STATUS } from '../../model/errors.ts'
import { isObject } from '../../model/values.ts'
import { idempotencyKeyOf } from '../conditional.ts'
import type { RestParts, ServiceOperation } from '../operation.ts'
import { QueryParameters } from '../query-parameters.ts'
import { OPERATION_HEADERS, WRITES } from '../resource-operations.ts'
import { linkDescription, negotiate, respond, viewerOf } from '../respond.ts'
import { basePath } from '../urls.ts'
import { runBatch, type Write, type WriteEndpoint, writeRequest } from './write.ts'

export const batch: ServiceOperation = {
  method: 'POST',
  path: '/batch',
  id: 'runBatch',
  summary: 'Write several resources in one transaction',
  description: ({ base }) =>
    `Runs the operations in order, all or none. \`path\` is relative to ${base}. If an operation fails, the response ` +
    'is its error, and the fields in the details begin with its position: `operations[3].name`. Each operation ' +
    'requires the write scope of its collection.',
  headers: ['IdempotencyKey', 'PreferWrite'],
  body: { content: 'Batch', types: JSON_TYPES },
  responses: {
    200: {
      description: 'The responses to the operations, in order.',
      headers: ['Preference-Applied', 'Consistency-Token'],
      body: 'BatchResults',
    },
  },
  errors: (Object.keys(STATUS) as ErrorCode[]).filter((code) => code !== 'METHOD_NOT_ALLOWED'),

  /** All writes are checked before the first runs. */
  handler(parts, served) {
    const { executor, settings } = parts
    const parse = operationParser(parts, served)
    return async (ctx) => {
      negotiate(ctx)
      QueryParameters.refuse(ctx.URL.searchParams)
      const operations = operationsOf(await readJsonBody(ctx))
      const writes = operations.map((operation, index) => {
        try {
          return parse(ctx, operation, index)
        } catch (error) {
          throw located(error, index)
        }
      })
      const { results, failure } = await runBatch(ctx, writes, executor)
      const failed = writes[results.length]
      if (failure) throw located(failed?.refusal(failure) ?? failure, results.length)
      const viewer = viewerOf(ctx, settings)
      linkDescription(ctx, viewer.urls)
      const responses = writes.map((write, index) =>
        write.respond(results[index]?.['write'] as Values, viewer),
      )
      respond(ctx, 200, { results: responses })
    }
  },
}

/** Each operation keeps the connection and the locks of those before it. */
export const MAXIMUM_OPERATIONS = 100

const METHODS: readonly string[] = WRITES.map(({ method }) => method)

/** Makes the function that reads the operations of a batch. */
function operationParser({ settings }: RestParts, routes: readonly Route[]) {
  const find = routeFinder(routes.filter(({ methods }) => METHODS.some((method) => method in methods)))

  /** @throws {DomainError} as for a request on its own, and VALIDATION_FAILED (400) if it is not a write */
  return (ctx: Context, operation: unknown, index: number): Write => {
    const { method, path, headers, body } = inspect(operation)
    const [found] = find(basePath(settings) + path)
    const target = found && (found.route.methods as Readonly<Record<string, WriteEndpoint>>)
    const endpoint = target?.[method]
    if (!target) throw invalid('path', 'INVALID_VALUE', `There is nothing to write at ${path.slice(0, 200)}.`)
    if (!endpoint) {
      const allowed = METHODS.filter((one) => one in target).join(', ')
      throw invalid('method', 'INVALID_VALUE', `${method} is not allowed at this path. Allowed: ${allowed}.`)
    }
    authorize(callerOf(ctx), ...endpoint.scope)
    refuseMediaType(endpoint.accepts, headers['content-type'])
    const key = idempotencyKeyOf(ctx)
    const inherited = {
      prefer: requestHeader(ctx, 'PreferWrite'),
      'idempotency-key': key && `${key}:${index}`,
    }
    return endpoint.write(writeRequest(found.params(), { ...inherited, ...headers }, body))
  }
}

function operationsOf(body: unknown): readonly unknown[] {
  if (!isObject(body)) throw invalid('', 'INVALID_TYPE', 'The body must be a JSON object.')
  const { operations, ...others } = body
  refuseMembers(others, ['operations'])
  if (!Array.isArray(operations)) throw invalid('operations', 'INVALID_TYPE', 'operations must be an array.')
  if (operations.length >= 1 && operations.length <= MAXIMUM_OPERATIONS) return operations
  const message = `A batch has 1 to ${MAXIMUM_OPERATIONS} operations, not ${operations.length}.`
  throw invalid('operations', 'INVALID_VALUE', message)
}

/** Checks the members of an operation, except for its body. */
function inspect(operation: unknown) {
  if (!isObject(operation)) throw invalid('', 'INVALID_TYPE', 'An operation must be an object.')
  const { method, path, headers = {}, body, ...others } = operation
  refuseMembers(others, ['method', 'path', 'headers', 'body'])
  if (typeof method !== 'string' || !METHODS.includes(method)) {
    throw invalid('method', 'INVALID_VALUE', `method must be one of ${METHODS.join(', ')}.`)
  }
  if (typeof path !== 'string' || !/^\/[^?#]*$/.test(path)) {
    const message = 'path must be relative to the entry document, such as /collection/id, without a query.'
    throw invalid('path', 'INVALID_VALUE', message)
  }
  if (!isObject(headers)) throw invalid('headers', 'INVALID_TYPE', 'headers must be an object.')
  const lowerCaseHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  refuseMembers(lowerCaseHeaders, OPERATION_HEADERS, 'headers.')
  const [wrong] = Object.entries(lowerCaseHeaders).find(([, value]) => typeof value !== 'string') ?? []
  if (wrong) throw invalid(`headers.${wrong}`, 'INVALID_TYPE', `${wrong} must be a string.`)
  refuseLongHeaders(lowerCaseHeaders as IncomingHttpHeaders, 'headers.')
  if (parsePreferences(lowerCaseHeaders['prefer'] as string | undefined).tx !== undefined) {
    throw invalid('headers.prefer', 'INVALID_VALUE', 'Send the preference tx with the whole batch.')
  }
  return { method, path, headers: lowerCaseHeaders as IncomingHttpHeaders, body }
}

function refuseMediaType(accepted = JSON_TYPES, type = 'application/json'): void {
  const [essence = ''] = type.toLowerCase().split(';')
  if (accepted.includes(essence.trim())) return
  throw new DomainError('UNSUPPORTED_MEDIA_TYPE', `The body must be ${accepted.join(' or ')}.`)
}

function refuseMembers(members: object, supported: readonly string[], place = ''): void {
  const [name] = Object.keys(members).filter((member) => !supported.includes(member))
  if (name === undefined) return
  const field = (place + name).slice(0, 200)
  throw invalid(field, 'UNKNOWN_FIELD', `Unknown member ${field}. Supported: ${supported.join(', ')}.`)
}

function invalid(field: string, code: DetailCode, message: string): DomainError {
  return errorAt(field, code, 'VALIDATION_FAILED', message)
}

function located(error: unknown, index: number): unknown {
  if (!(error instanceof DomainError)) return error
  const place = `operations[${index}]`
  const details = error.details.map(({ field, ...detail }) => {
    return { field: field === '' ? place : `${place}.${field}`, ...detail }
  })
  const { code, message, scope } = error
  return Object.assign(new DomainError(code, `${place}: ${message}`, details), scope && { scope })
}
