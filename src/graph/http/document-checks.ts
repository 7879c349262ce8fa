import type { GraphQLRequestContextDidResolveOperation, GraphQLResponse } from '@apollo/server'
import {
  type DocumentNode,
  type FloatValueNode,
  GraphQLError,
  GraphQLID,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  type IntValueNode,
  type OperationDefinitionNode,
  type ValidationRule,
} from 'graphql'
import { EVENT_STREAM } from '../../http/content/event-stream.ts'
import type { Values } from '../../model/definition/resource.ts'
import { DomainError } from '../../model/errors.ts'
import { INEXACT } from '../../model/kinds/number.ts'
import { exactNumber } from '../../model/values.ts'
import type { GraphContext } from '../execution/context.ts'
import { refusal } from '../execution/errors.ts'
import { MAXIMUM_VARIABLE_ERRORS } from '../execution/operation.ts'

/** Hand-written operations are shorter. */
export const MAXIMUM_TOKENS = 2000
/** Validation stops after this many errors: searching for similar names takes time. */
export const MAXIMUM_VALIDATION_ERRORS = 5
export const MAXIMUM_DOCUMENT_BYTES = 32 * 1024

export type ResolvedRequest = GraphQLRequestContextDidResolveOperation<GraphContext>

/** Decides which documents of /graphql are executed, and when. Each function returns what to call at the end of the work. */
export interface DocumentGuard {
  readonly rules: readonly ValidationRule[]
  /** @throws {DomainError} VALIDATION_FAILED (400) for a document whose fragments expand to too many fields */
  refuseLarge(document: DocumentNode): void
  /** Waits until a document may be parsed and validated. */
  beginParsing(request: { readonly source: string; readonly contextValue: GraphContext }): Promise<() => void>
  /**
   * Waits until an operation may be executed.
   *
   * @throws {GraphQLError} for an operation that may cost too much
   */
  beginOperation(request: ResolvedRequest): Promise<() => void>
}

/** Refuses numbers in a document that graphql-js would change, because it reads them in double precision. */
export const exactNumbers: ValidationRule = (context) => {
  const check = (node: IntValueNode | FloatValueNode) => {
    // Identifiers are texts.
    if (getNamedType(context.getInputType()) === GraphQLID || Number.isFinite(exactNumber(node.value))) return
    const message = `The number ${node.value.slice(0, 100)} ${INEXACT}.`
    context.reportError(new GraphQLError(message, { nodes: node }))
  }
  return { IntValue: check, FloatValue: check }
}

export const noIntrospection: ValidationRule = (context) => ({
  Field(node) {
    if (node.name.value !== '__schema' && node.name.value !== '__type') return
    const message = 'Introspection is off. The setting GRAPHQL_INTROSPECTION=true permits it.'
    context.reportError(new GraphQLError(message, { nodes: node }))
  },
})

export function refuseWithoutEvents({ operation, contextValue }: ResolvedRequest): void {
  if (operation?.operation !== 'subscription' || contextValue.stream) return
  const message = `A subscription needs the header Accept: ${EVENT_STREAM}.`
  throw refusal(new DomainError('NOT_ACCEPTABLE', message))
}

const LONGEST_MESSAGE = 500

/**
 * The first errors of variables that do not fit. Each takes time, for similar names, and names the value, which may be
 * large.
 */
export function variableErrors(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Values = {},
  hideSuggestions: boolean,
): readonly GraphQLError[] | undefined {
  const options = { maxErrors: MAXIMUM_VARIABLE_ERRORS, hideSuggestions }
  const { errors } = getVariableValues(schema, variableDefinitions, variables, options)
  return errors?.map(requestError)
}

/** An error of a value, which its message quotes, refuses the request. */
export function requestError({ message, nodes = [] }: GraphQLError): GraphQLError {
  const short = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message
  return new GraphQLError(short, { nodes, extensions: { http: { status: 400 } } })
}

/** A list of a thousand resources can have an error for each. */
const MAXIMUM_ERRORS = 100

export function limitErrors({ body }: GraphQLResponse): void {
  if (body.kind !== 'single') return
  const { errors = [], extensions } = body.singleResult
  if (errors.length <= MAXIMUM_ERRORS) return
  body.singleResult.errors = errors.slice(0, MAXIMUM_ERRORS)
  body.singleResult.extensions = { ...extensions, omittedErrors: errors.length - MAXIMUM_ERRORS }
}
