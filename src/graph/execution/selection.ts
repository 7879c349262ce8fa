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
  const fields =
    below === undefined
      ? direct
      : fieldsBelow(
          info,
          direct.filter(({ name }) => name.value === below),
        )
  return new Set(fields.map(({ name }) => name.value))
}

function fieldsBelow(info: GraphQLResolveInfo, nodes: readonly FieldNode[]): FieldNode[] {
  const fieldsOf = ({ selectionSet }: Pick<FieldNode, 'selectionSet'>): FieldNode[] =>
    (selectionSet?.selections ?? []).flatMap((selection) => {
      if (!isIncluded(info, selection)) return []
      if (selection.kind === 'Field') return [selection]
      if (selection.kind === 'InlineFragment') return fieldsOf(selection)
      const fragment = info.fragments[selection.name.value]
      return fragment ? fieldsOf(fragment) : []
    })
  return nodes.flatMap(fieldsOf)
}

function isIncluded({ variableValues }: GraphQLResolveInfo, selection: SelectionNode): boolean {
  if (getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.['if'] === true) return false
  return getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.['if'] !== false
}
