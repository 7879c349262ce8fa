import type { DocumentNode, GraphQLError, ValidationRule } from 'graphql'
import { refusal } from '../../graph/execution/errors.ts'
import { errorAt } from '../../model/errors.ts'
import { countAliases, countDirectives, countWritesTogether, depthOf } from './document-measures.ts'

export interface DocumentLimits {
  readonly depth: number
  /** One unit is an object, 250 characters of the response, or 32 KiB of a scanned table. */
  readonly cost: number
}

const MAXIMUM_ALIASES = 30
/** Writes of one transaction, which keeps its connection and its locks until it ends. */
const MAXIMUM_WRITES = 100
const MAXIMUM_DIRECTIVES = 20

export function limitRules({ depth }: DocumentLimits): ValidationRule[] {
  return [
    limit('aliases', MAXIMUM_ALIASES, countAliases),
    limit('fields in one transaction', MAXIMUM_WRITES, countWritesTogether),
    limit('directives', MAXIMUM_DIRECTIVES, countDirectives),
    limit('levels of fields', depth, depthOf),
  ]
}

export function refused(message: string): GraphQLError {
  return refusal(errorAt('query', 'LIMIT_EXCEEDED', 'VALIDATION_FAILED', message))
}

function limit(what: string, maximum: number, count: (document: DocumentNode) => number): ValidationRule {
  return (context) => ({
    Document(document) {
      const found = count(document)
      if (found <= maximum) return
      context.reportError(refused(`The document has ${found} ${what}; ${maximum} are allowed.`))
    },
  })
}
