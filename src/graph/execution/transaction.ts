import type { ExecutionResult, OperationDefinitionNode } from 'graphql'
import { endsTransaction, inOneTransaction, TransactionEnded } from '../../domain/transaction.ts'
import { executeInOrder } from '../../domain/write-order.ts'
import { type GraphContext, inTransaction } from './context.ts'
import { causeOf } from './errors.ts'

export interface TransactionMode {
  /** The first error ends the transaction and undoes it. */
  readonly isAtomic: boolean
  readonly isDryRun: boolean
}

/** The mode that the directives request; undefined if each field has its own transaction. */
export function transactionMode({ directives = [] }: OperationDefinitionNode): TransactionMode | undefined {
  const has = (directive: string) => directives.some(({ name }) => name.value === directive)
  const mode = { isAtomic: has('atomic'), isDryRun: has('dryRun') }
  return mode.isAtomic || mode.isDryRun ? mode : undefined
}

export type Execute = (context: GraphContext) => ExecutionResult | Promise<ExecutionResult>

/**
 * Executes mutations of one field each, in order, in one transaction, and again as a whole after a conflict with another
 * one.
 *
 * @returns the results; if atomic, up to the first with an error
 * @throws {DomainError} SERVICE_UNAVAILABLE (503)
 */
export async function executeTogether(
  context: GraphContext,
  { isAtomic, isDryRun }: TransactionMode,
  mutations: readonly Execute[],
): Promise<ExecutionResult[]> {
  const { access, caller, connections, domain, slot } = context
  const goesOn = ({ errors = [] }: ExecutionResult) => {
    if (errors.some((error) => endsTransaction(causeOf(error)))) throw new TransactionEnded()
    slot.throwIfLate()
    return !isAtomic || errors.length === 0
  }
  const run = () =>
    inOneTransaction(
      { ...domain, caller },
      { hasSavepoints: !isAtomic, isDryRun },
      async (client, transaction) => {
        const inside = inTransaction(context, client, transaction)
        const operations = mutations.map(
          (mutation) =>
            async (turn: GraphContext['turn']): Promise<ExecutionResult> =>
              mutation({ ...inside, turn }),
        )
        const result = await executeInOrder({ ...inside.domain, caller, access }, operations, goesOn)
        return { result, isKept: !isDryRun && result.every(goesOn) }
      },
    )
  try {
    return await connections.write(run)
  } finally {
    domain.written(caller)
  }
}
