import { type DocumentNode, Kind, type SelectionSetNode, visit } from 'graphql'
import { transactionMode } from '../../graph/execution/transaction.ts'

/** Fields in a transaction have their own limit. */
export function countAliases(document: DocumentNode): number {
  let count = 0
  visit(document, { Field: ({ alias }) => void (alias && count++) })
  return count - countWritesTogether(document)
}

export function countDirectives(document: DocumentNode): number {
  let count = 0
  visit(document, { Directive: () => void count++ })
  return count
}

export function countWritesTogether(document: DocumentNode): number {
  const isTogether = document.definitions.some(
    (one) => one.kind === Kind.OPERATION_DEFINITION && transactionMode(one),
  )
  return isTogether ? measure(document, () => 1, sum) : 0
}

/**
 * The levels of fields, with fragments expanded. Introspection does not count: graphql-js limits it, and the usual query is
 * deeper than any other.
 */
export function depthOf(document: DocumentNode): number {
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
