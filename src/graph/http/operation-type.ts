import {
  type DocumentNode,
  type FieldNode,
  type FragmentSpreadNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type InlineFragmentNode,
  Kind,
  OperationTypeNode,
  parse,
  type ValidationRule,
  validate,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { errorAt } from '../../model/errors.ts'
import { MAXIMUM_TOKENS } from './document-checks.ts'
import type { RequestParameters } from './request.ts'

/** The characters of the documents that are kept parsed. */
const KEPT_CHARACTERS = 200_000

/**
 * Makes the function that finds the type of the operation that a request selects; undefined for a request that Apollo
 * refuses, such as one with a syntax error.
 *
 * @param check runs before any work on a new document
 * @throws {DomainError} from the function: VALIDATION_FAILED (400) if no operation is selected, or a subscription has a
 *   conditional field
 */
export function operationReader(schema: GraphQLSchema, check: (document: DocumentNode) => void = () => {}) {
  const size = { maxSize: KEPT_CHARACTERS, sizeCalculation: (_: DocumentNode, text: string) => text.length }
  const documents = new LRUCache<string, DocumentNode>(size)
  return ({
    query,
    operationName,
  }: Pick<RequestParameters, 'query' | 'operationName'>): OperationTypeNode | undefined => {
    if (typeof query !== 'string' || query === '') return undefined
    if (operationName && typeof operationName !== 'string') return undefined
    const known = documents.get(query)
    const document = known ?? parsed(query)
    if (!document) return undefined
    if (!known) check(document)
    documents.set(query, document)
    const hasOperation = document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION)
    const operation = getOperationAST(document, operationName as string | null | undefined)
    if (!operation && !hasOperation) return undefined
    if (!operation) {
      const message =
        typeof operationName === 'string'
          ? `The document has no operation ${JSON.stringify(operationName.slice(0, 100))}.`
          : 'The document has several operations. Name one of them.'
      throw errorAt('operationName', 'INVALID_VALUE', 'VALIDATION_FAILED', message)
    }
    refuseConditionalSubscription(schema, document)
    return operation.operation
  }
}

function parsed(text: string): DocumentNode | undefined {
  try {
    return parse(text, { maxTokens: MAXIMUM_TOKENS })
  } catch {
    // Apollo reports the syntax error.
    return undefined
  }
}

const unconditionalSubscriptions: ValidationRule = (context) => {
  const check = (node: FieldNode | FragmentSpreadNode | InlineFragmentNode) => {
    const isConditional = node.directives?.some(({ name }) => ['skip', 'include'].includes(name.value))
    if (!isConditional || context.getParentType() !== context.getSchema().getSubscriptionType()) return
    context.reportError(new GraphQLError('The field of a subscription must not have @skip or @include.'))
  }
  return { Field: check, FragmentSpread: check, InlineFragment: check }
}

/**
 * Refuses a subscription with a conditional field (GraphQL specification §5.2.4.1). Runs before the other rules, because
 * one of graphql-js throws for variables there.
 */
function refuseConditionalSubscription(schema: GraphQLSchema, document: DocumentNode): void {
  const isSubscription = document.definitions.some(
    (one) => one.kind === Kind.OPERATION_DEFINITION && one.operation === OperationTypeNode.SUBSCRIPTION,
  )
  if (!isSubscription) return
  const [problem] = validate(schema, document, [unconditionalSubscriptions])
  if (problem) throw errorAt('query', 'INVALID_VALUE', 'VALIDATION_FAILED', problem.message)
}
