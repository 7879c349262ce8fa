import {
  type DocumentNode,
  type FieldNode,
  type FragmentSpreadNode,
  GraphQLError,
  type GraphQLSchema,
  type InlineFragmentNode,
  parse,
  type ValidationRule,
  validate,
} from 'graphql'
import { errorAt } from '../../model/errors.ts'
import { MAXIMUM_TOKENS } from './limits.ts'

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
 *
 * @throws {DomainError} VALIDATION_FAILED (400)
 */
export function refuseConditionalSubscription(schema: GraphQLSchema, text: string): void {
  if (!text.includes('subscription') || !text.includes('@')) return
  let document: DocumentNode
  try {
    document = parse(text, { maxTokens: MAXIMUM_TOKENS })
  } catch {
    // Apollo reports the syntax error.
    return
  }
  const [problem] = validate(schema, document, [unconditionalSubscriptions])
  if (problem) throw errorAt('query', 'INVALID_VALUE', 'VALIDATION_FAILED', problem.message)
}
