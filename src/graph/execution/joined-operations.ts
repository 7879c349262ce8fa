import {
  type ConstDirectiveNode,
  type FieldNode,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  visit,
} from 'graphql'
import type { Values } from '../../model/resource.ts'
import type { OperationText, PreparedOperation } from './operation.ts'

/**
 * Joins mutations of one field into one that executes them in order in one transaction. The index of each is appended to
 * the names of its variables and the alias of its field.
 */
export function joinOperations(
  parts: readonly { readonly operation: PreparedOperation; readonly variables: Values }[],
  isDryRun: boolean,
) {
  const definitions = parts.map(({ operation }, index) => numbered(operation, index))
  const definition: OperationDefinitionNode = {
    kind: Kind.OPERATION_DEFINITION,
    operation: OperationTypeNode.MUTATION,
    directives: ['atomic', ...(isDryRun ? ['dryRun'] : [])].map(directive),
    variableDefinitions: definitions.flatMap(({ variableDefinitions = [] }) => variableDefinitions),
    selectionSet: {
      kind: Kind.SELECTION_SET,
      selections: definitions.flatMap(({ selectionSet }) => selectionSet.selections),
    },
  }
  const variables = parts.flatMap((part, index) =>
    Object.entries(part.variables).map(([name, value]) => [`${name}${index}`, value]),
  )
  const cost = parts.reduce((total, { operation, variables }) => total + operation.cost(variables), 0)
  const text = { kind: Kind.DOCUMENT, definitions: [definition] } as const
  const operation: OperationText = { type: 'mutation', name: 'batch', text, cost }
  return { operation, variables: Object.fromEntries(variables) }
}

function directive(name: string): ConstDirectiveNode {
  return { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: name } }
}

const known = new WeakMap<PreparedOperation, OperationDefinitionNode[]>()

/** Cached, because visiting an operation takes as long as executing it. */
function numbered(operation: PreparedOperation, index: number): OperationDefinitionNode {
  const numbers = known.get(operation) ?? []
  known.set(operation, numbers)
  numbers[index] ??= number(operation.parsed().definitions[0] as OperationDefinitionNode, index)
  return numbers[index]
}

function number(definition: OperationDefinitionNode, index: number): OperationDefinitionNode {
  const { selectionSet, ...rest } = visit(definition, {
    Variable: ({ kind, name }) => ({ kind, name: { ...name, value: `${name.value}${index}` } }),
  })
  const [field] = selectionSet.selections as [FieldNode]
  const alias = { kind: Kind.NAME, value: `${(field.alias ?? field.name).value}${index}` } as const
  return { ...rest, selectionSet: { ...selectionSet, selections: [{ ...field, alias }] } }
}
