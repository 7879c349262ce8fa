import {
  type DocumentNode,
  type GraphQLError,
  Kind,
  type SelectionSetNode,
  type ValidationRule,
  visit,
} from 'graphql'
import { refusal } from '../../graph/execution/errors.ts'
import { transactionMode } from '../../graph/execution/mutation-fields.ts'
import { errorAt } from '../../model/errors.ts'

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

/** Fields in a transaction have their own limit. */
function countAliases(document: DocumentNode): number {
  let count = 0
  visit(document, { Field: ({ alias }) => void (alias && count++) })
  return count - countWritesTogether(document)
}

function countDirectives(document: DocumentNode): number {
  let count = 0
  visit(document, { Directive: () => void count++ })
  return count
}

function countWritesTogether(document: DocumentNode): number {
  const isTogether = document.definitions.some(
    (one) => one.kind === Kind.OPERATION_DEFINITION && transactionMode(one),
  )
  return isTogether ? measure(document, () => 1, sum) : 0
}

/**
 * The levels of fields, with fragments expanded. Introspection does not count: graphql-js limits it, and the usual query is
 * deeper than any other.
 */
function depthOf(document: DocumentNode): number {
  return measure(
    document,
    (name, inner) => (isIntrospection(name) ? 1 : 1 + inner),
    (parts) => Math.max(0, ...parts),
  )
}

/** With fragments expanded, without visiting them more than once. */
export function countFields(document: DocumentNode): number {
  return measure(document, (_, inner) => 1 + inner, sum)
}

/** Whether the document asks of the schema, and of nothing else. */
export function isOfSchema(document: DocumentNode): boolean {
  const others = measure(document, (name) => (isIntrospection(name) || name === '__typename' ? 0 : 1), sum)
  return others === 0
}

/** Each searches the whole schema and sends most of it. */
export function countIntrospections(document: DocumentNode): number {
  return measure(document, (name, inner) => (isIntrospection(name) ? 1 : inner), sum)
}

function sum(parts: readonly number[]): number {
  return parts.reduce((total, part) => total + part, 0)
}

function isIntrospection(name: string): boolean {
  return name === '__schema' || name === '__type'
}

/** Combines the fields of all operations, with fragments expanded. Visits each fragment once. */
function measure(
  { definitions }: DocumentNode,
  ofField: (name: string, inner: number) => number,
  combine: (parts: readonly number[]) => number,
): number {
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION)
  const known = new Map<string, number>()
  const ofFragment = (name: string): number => {
    const seen = known.get(name)
    if (seen !== undefined) return seen
    // Another rule refuses a fragment that spreads itself. This only ends the recursion.
    known.set(name, 0)
    const total = ofSelections(fragments.find((fragment) => fragment.name.value === name)?.selectionSet)
    known.set(name, total)
    return total
  }
  const ofSelections = (set: SelectionSetNode | undefined): number =>
    combine(
      (set?.selections ?? []).map((selection) => {
        if (selection.kind === Kind.FRAGMENT_SPREAD) return ofFragment(selection.name.value)
        const inner = ofSelections(selection.selectionSet)
        return selection.kind === Kind.INLINE_FRAGMENT ? inner : ofField(selection.name.value, inner)
      }),
    )
  const operations = definitions.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
  return combine(operations.map(({ selectionSet }) => ofSelections(selectionSet)))
}
