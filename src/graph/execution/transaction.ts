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

/** How the fields of a mutation share a transaction. */
export interface TransactionMode {
  /** The first error undoes all of them, and no other is executed. */
  readonly isAtomic: boolean
  /** Nothing is stored. */
  readonly isDryRun: boolean
}

/** The mode that the directives of a mutation ask for; undefined if each field has a transaction of its own. */
export function transactionMode({ directives = [] }: OperationDefinitionNode): TransactionMode | undefined {
  const has = (directive: string) => directives.some(({ name }) => name.value === directive)
  const mode = { isAtomic: has('atomic'), isDryRun: has('dryRun') }
  return mode.isAtomic || mode.isDryRun ? mode : undefined
}

/**
 * Executes a mutation in one transaction, on one connection. After a conflict with another transaction it is executed
 * again as a whole.
 *
 * @returns for an atomic mutation either all data or the first error
 */
export async function executeTogether(
  context: GraphContext,
  { isAtomic, isDryRun }: TransactionMode,
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
    return await connections.use(run)
  } catch (cause) {
    const { message } = cause as Error
    return { data: null, errors: [new GraphQLError(message, { originalError: cause as Error })] }
  } finally {
    domain.readers?.recordWrite(caller)
    domain.feed.written()
  }
}
