import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  type SelectionNode,
} from 'graphql'

/**
 * The names of the fields that an operation asks for below the field that is being resolved: directly,
 * or below its fields of a name. Those that `@skip` or `@include` leaves out are not asked for.
 */
export function selectedFields(info: GraphQLResolveInfo, below?: string): ReadonlySet<string> {
  const direct = fieldsBelow(info, info.fieldNodes)
  const parents = direct.filter(({ name }) => name.value === below)
  const fields = below === undefined ? direct : fieldsBelow(info, parents)
  return new Set(fields.map(({ name }) => name.value))
}

function fieldsBelow(
  info: GraphQLResolveInfo,
  nodes: readonly Pick<FieldNode, 'selectionSet'>[],
): FieldNode[] {
  const selections = nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? [])
  return selections.flatMap((selection): FieldNode[] => {
    if (!isIncluded(info, selection)) return []
    if (selection.kind === 'Field') return [selection]
    const within = selection.kind === 'InlineFragment' ? selection : info.fragments[selection.name.value]
    return within ? fieldsBelow(info, [within]) : []
  })
}

function isIncluded({ variableValues }: GraphQLResolveInfo, selection: SelectionNode): boolean {
  if (getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.['if'] === true) return false
  return getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.['if'] !== false
}
