import { referencesTo, relationsOf } from '../../../src/model/definition/relations.ts'
import { type Resource, tableName } from '../../../src/model/definition/resource.ts'

/** One side of a relation between two models. */
export interface Relation {
  /** The name of the field. */
  readonly name: string
  /** The model on the other side. */
  readonly model: string
  /** The name of the relation, if Prisma needs one. */
  readonly label: string | undefined
  /** The column of the foreign key, on the side that has it. */
  readonly column?: string
  readonly isRequired?: boolean
  readonly isList?: boolean
  readonly onDelete?: string
}

const ACTIONS = { restrict: 'Restrict', cascade: 'Cascade', 'set null': 'SetNull' } as const

/** The relations to the parent, to the targets of references, and to the resources that refer to this one. */
export function makeRelations(resource: Resource, resources: readonly Resource[]): Relation[] {
  const taken = new Set(resource.leaves.map(({ column }) => column))
  return [...outgoing(resource, resources), ...incoming(resource, resources)].map((relation) => {
    let { name } = relation
    while (taken.has(name)) name = `${name}_relation`
    taken.add(name)
    return { ...relation, name }
  })
}

function outgoing(resource: Resource, resources: readonly Resource[]): Relation[] {
  const { owner, parentField } = resource
  const references = relationsOf(resource, resources).map(
    ({ relation, leaf, target }): Relation => ({
      name: tableName(relation),
      model: target.name,
      label: labelOf(resource, target, leaf.column),
      column: leaf.column,
      isRequired: leaf.field.required === true,
      onDelete: ACTIONS[leaf.field.onDelete ?? 'restrict'],
    }),
  )
  if (!owner || !parentField) return references
  const parent: Relation = {
    name: parentField.replace(/_id$/, ''),
    model: owner.name,
    label: labelOf(resource, owner, parentField),
    column: parentField,
    isRequired: true,
    onDelete: 'Cascade',
  }
  return [parent, ...references]
}

/** Fields are named after the table of the other side, and after the relation if there are several. */
function incoming(resource: Resource, resources: readonly Resource[]): Relation[] {
  return resources.flatMap((from) => {
    const side = (column: string, isList: boolean, relation?: string): Relation => {
      const label = labelOf(from, resource, column)
      const ending = relation === undefined || label === undefined ? '' : `_${tableName(relation)}`
      return { name: tableName(from.path) + ending, model: from.name, label, isList }
    }
    return [
      ...(from.owner === resource ? [side(from.parentField as string, from.listed)] : []),
      ...referencesTo(resource, [from]).map(({ leaf }) => side(leaf.column, true, leaf.field.relation)),
    ]
  })
}

/** Prisma needs a name for each of several relations between two models, and for a relation of a model with itself. */
function labelOf(from: Resource, to: Resource, column: string): string | undefined {
  const between = (one: Resource, other: Resource) =>
    referencesTo(other, [one]).length + (one.owner === other ? 1 : 0)
  const count = between(from, to) + between(to, from)
  return count > 1 || from === to ? `${tableName(from.path)}_${column}` : undefined
}
