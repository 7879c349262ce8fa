import {
  type FieldNode,
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  type SelectionNode,
} from 'graphql'

/** The names of the fields selected in the current field, or at a path below it. Respects `@skip` and `@include`. */
export function selectedFields(info: GraphQLResolveInfo, ...path: readonly string[]): ReadonlySet<string> {
  let fields = fieldsBelow(info, info.fieldNodes)
  for (const member of path) {
    const parents = fields.filter(({ name }) => name.value === member)
    fields = fieldsBelow(info, parents)
  }
  return new Set(fields.map(({ name }) => name.value))
}

type Operation = Pick<GraphQLResolveInfo, 'fragments' | 'variableValues'>

/** The fields in these selection sets, including those of fragments. Respects `@skip` and `@include`. */
export function fieldsBelow(info: Operation, nodes: readonly Pick<FieldNode, 'selectionSet'>[]): FieldNode[] {
  const selections = nodes.flatMap(({ selectionSet }) => selectionSet?.selections ?? [])
  return selections.flatMap((selection): FieldNode[] => {
    if (!isIncluded(info, selection)) return []
    if (selection.kind === 'Field') return [selection]
    const within = selection.kind === 'InlineFragment' ? selection : info.fragments[selection.name.value]
    return within ? fieldsBelow(info, [within]) : []
  })
}

function isIncluded({ variableValues }: Operation, selection: SelectionNode): boolean {
  if (!selection.directives?.length) return true
  if (getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.['if'] === true) return false
  return getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.['if'] !== false
}
