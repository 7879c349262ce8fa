import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'
import type { Session, TransactionMode } from '../../domain/session/session.ts'
import type { Values } from '../../model/definition/resource.ts'
import type { GraphContext } from './context.ts'
import { causesIn } from './errors.ts'
import { fieldsBelow } from './selection.ts'

interface Mutation {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly variables: Values
}

/** The mode that the directives request; undefined if each field has its own transaction. */
export function transactionMode({ directives = [] }: OperationDefinitionNode): TransactionMode | undefined {
  const has = (directive: string) => directives.some(({ name }) => name.value === directive)
  const mode = { isAtomic: has('atomic'), isDryRun: has('dryRun') }
  return mode.isAtomic || mode.isDryRun ? mode : undefined
}

type Execute = (context: GraphContext) => ExecutionResult | Promise<ExecutionResult>

/** Executes the fields of a mutation together. If it is atomic, the result is either all data or the first error. */
export async function executeFields(
  context: GraphContext,
  mode: TransactionMode,
  mutation: Mutation,
): Promise<ExecutionResult> {
  try {
    const fields = fieldsOf(mutation).map(
      (field) => async (session: Session) => field({ ...context, session }),
    )
    const results = await context.session.together(mode, fields, causesIn)
    const errors = results.flatMap((result) => result.errors ?? [])
    if (errors[0] && mode.isAtomic) return { data: null, errors: [errors[0]] }
    const data = Object.assign({}, ...results.map((result) => result.data))
    return errors.length > 0 ? { data, errors } : { data }
  } catch (cause) {
    const { message } = cause as Error
    return { data: null, errors: [new GraphQLError(message, { originalError: cause as Error })] }
  }
}

/** Each field as a mutation of its own. Fields with the same name in the response are one (GraphQL specification §6.3.2). */
function fieldsOf({ schema, document, operation, variables }: Mutation): Execute[] {
  const { coerced = {} } = getVariableValues(schema, operation.variableDefinitions ?? [], variables)
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  const byName = Object.fromEntries(
    (fragments as FragmentDefinitionNode[]).map((fragment) => [fragment.name.value, fragment]),
  )
  const fields = new Map<string, FieldNode[]>()
  for (const field of fieldsBelow({ fragments: byName, variableValues: coerced }, [operation])) {
    const name = (field.alias ?? field.name).value
    fields.set(name, [...(fields.get(name) ?? []), field])
  }
  const inFragments = variablesIn(fragments)
  return [...fields.values()].map((selections) => {
    // Coercing all variables for each field would take the square of the time.
    const used = new Set([...variablesIn(selections), ...inFragments])
    const variableDefinitions = operation.variableDefinitions?.filter(({ variable }) =>
      used.has(variable.name.value),
    )
    const selectionSet = { kind: Kind.SELECTION_SET, selections } as const
    const definition = { ...operation, ...(variableDefinitions && { variableDefinitions }), selectionSet }
    const alone = { kind: Kind.DOCUMENT, definitions: [definition, ...fragments] } as const
    return (contextValue) => execute({ schema, document: alone, variableValues: variables, contextValue })
  })
}

function variablesIn(nodes: readonly (FieldNode | DocumentNode['definitions'][number])[]): string[] {
  const names: string[] = []
  for (const node of nodes) visit(node, { Variable: ({ name }) => void names.push(name.value) })
  return names
}
