import {
  type DocumentNode,
  type FieldNode,
  type FragmentSpreadNode,
  GraphQLError,
  type GraphQLSchema,
  getOperationAST,
  type InlineFragmentNode,
  type OperationTypeNode,
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
  const documents = new LRUCache<string, DocumentNode>({
    maxSize: KEPT_CHARACTERS,
    sizeCalculation: (_, text) => text.length,
    memoMethod(text) {
      const document = parse(text, { maxTokens: MAXIMUM_TOKENS })
      check(document)
      refuseConditionalSubscription(schema, document)
      return document
    },
  })
  return ({ query, operationName }: RequestParameters): OperationTypeNode | undefined => {
    if (typeof query !== 'string' || query === '') return undefined
    if (operationName && typeof operationName !== 'string') return undefined
    try {
      const document = documents.memo(query)
      const operation = getOperationAST(document, operationName as string | null | undefined)
      const hasOperation = document.definitions.some((one) => 'operation' in one)
      if (operation || !hasOperation) return operation?.operation
    } catch (error) {
      // Apollo reports the syntax error.
      if (error instanceof GraphQLError) return undefined
      throw error
    }
    const message =
      typeof operationName === 'string'
        ? `The document has no operation ${JSON.stringify(operationName.slice(0, 100))}.`
        : 'The document has several operations. Name one of them.'
    throw errorAt('operationName', 'INVALID_VALUE', 'VALIDATION_FAILED', message)
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
  if (!document.definitions.some((one) => 'operation' in one && one.operation === 'subscription')) return
  const [problem] = validate(schema, document, [unconditionalSubscriptions])
  if (problem) throw errorAt('query', 'INVALID_VALUE', 'VALIDATION_FAILED', problem.message)
}
