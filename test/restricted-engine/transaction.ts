/** What the statements of a session say about its transaction. */
export interface OpenTransaction {
  /** BEGIN has opened it, and it has not ended. */
  readonly isOpen: boolean
  readonly hasDefinition: boolean
  readonly hasSavepoint: boolean
}

export const NO_TRANSACTION: OpenTransaction = { isOpen: false, hasDefinition: false, hasSavepoint: false }

const BEGIN = /^(?:begin|start transaction)\b/
const END = /^(?:commit|end|rollback|abort)\b(?! prepared)(?! (?:work |transaction )?to )/

export const COMMIT = /^(?:commit|end)(?: work| transaction)?$/
export const SAVEPOINT = /^savepoint /

/** DDL of what is not temporary. */
export const DEFINITION = /^(?:create|alter|drop) (?!temp\b|temporary\b)/

/** The transaction after a statement. */
export function transactionAfter(transaction: OpenTransaction, words: string): OpenTransaction {
  if (BEGIN.test(words)) return { ...NO_TRANSACTION, isOpen: true }
  if (END.test(words)) return NO_TRANSACTION
  if (!transaction.isOpen) return transaction
  if (SAVEPOINT.test(words)) return { ...transaction, hasSavepoint: true }
  return DEFINITION.test(words) ? { ...transaction, hasDefinition: true } : transaction
}
