import {
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  type OperationDefinitionNode,
} from 'graphql'
import { inOneTransaction, TransactionEnded } from '../../domain/transaction.ts'
import { type GraphContext, inTransaction } from './context.ts'
import { causeOf } from './errors.ts'

/** The mode that the directives request; undefined if each field has its own transaction. */
export function transactionMode({ directives = [] }: OperationDefinitionNode) {
  const has = (directive: string) => directives.some(({ name }) => name.value === directive)
  const mode = { isAtomic: has('atomic'), isDryRun: has('dryRun') }
  return mode.isAtomic || mode.isDryRun ? mode : undefined
}

/**
 * Executes a mutation in one transaction, and again as a whole after a conflict with another one. An atomic mutation
 * returns either all data or the first error.
 */
export async function executeTogether(
  context: GraphContext,
  { isAtomic, isDryRun }: NonNullable<ReturnType<typeof transactionMode>>,
  operation: Omit<ExecutionArgs, 'contextValue'>,
): Promise<ExecutionResult> {
  const { caller, connections, domain, slot } = context
  const first = { hasSavepoints: !isAtomic }
  const run = () =>
    inOneTransaction<ExecutionResult>({ ...domain, caller }, first, async (client, transaction) => {
      const contextValue = inTransaction(context, client, transaction, isAtomic)
      const result = await execute({ ...operation, contextValue })
      const { errors = [] } = result
      if (errors.some((one) => causeOf(one) instanceof TransactionEnded)) throw new TransactionEnded()
      slot.throwIfLate()
      if (errors[0] && isAtomic) return { result: { data: null, errors: [errors[0]] }, isKept: false }
      return { result, isKept: !isDryRun }
    })
  try {
    return await connections.write(run)
  } catch (cause) {
    const { message } = cause as Error
    return { data: null, errors: [new GraphQLError(message, { originalError: cause as Error })] }
  } finally {
    domain.readers?.recordWrite(caller)
    domain.feed.written()
  }
}
