import { groupable, measurable } from '../../domain/aggregate.ts'
import type { Resource } from '../../domain/model/resource.ts'
import { camelCase, graphNames, sortValue } from '../names.ts'
import { described, leafType } from './field-types.ts'

/** The types that the aggregates of a resource are asked for with, and answered in. */
export function aggregateTypes(resource: Resource): string {
  const names = graphNames(resource)
  const keys = groupable(resource.leaves).map(
    ({ column, field }) =>
      `${described(field.description)}${camelCase(column)}: ${leafType(resource, column, field)}`,
  )
  const values = groupable(resource.leaves).map(
    ({ column, field }) => `${described(field.description)}${sortValue(column)}`,
  )
  const isMeasured = measurable(resource).length > 0
  return `"What ${resource.path} can be grouped by."
    enum ${names.groupField} { ${values.join('\n')} }
    "The values that a group of ${resource.path} has in common; set only where it was grouped by them."
    type ${names.groupKey} { ${keys.join('\n')} }
    ${isMeasured ? measureType(resource) : ''}
    "Those of ${resource.path} that have the same values in the fields they are grouped by."
    type ${names.group} {
      "What they have in common."
      key: ${names.groupKey}!
      "How many they are."
      count: Int!
      ${isMeasured ? measureFields(names.measures) : ''}
    }
    "The groups of ${resource.path}."
    type ${names.aggregateType} {
      "The groups, as many as the limit lets through."
      groups: [${names.group}!]!
      "Whether there are more groups than the limit lets through."
      hasMore: Boolean!
    }`
}

/** The arguments of every aggregate. */
export function aggregateArguments(resource: Resource): string {
  const { filter, groupField } = graphNames(resource)
  return `"Only those for which this holds." filter: ${filter},
    "The fields that make the groups; without any, all is one group." groupBy: [${groupField}!]! = [],
    "The order of the groups." order: GroupOrder! = COUNT,
    "How many groups at most, up to ${MAXIMUM_GROUPS}." limit: Int! = 100`
}

/** How many groups an aggregate answers with at most. */
export const MAXIMUM_GROUPS = 1000

function measureType(resource: Resource): string {
  const fields = measurable(resource).map(
    ({ column, field }) => `${described(field.description)}${camelCase(column)}: Float`,
  )
  return `"A number for each field of ${resource.path} that holds one; null where none of a group has a value."
    type ${graphNames(resource).measures} { ${fields.join('\n')} }`
}

function measureFields(type: string): string {
  return `"The smallest of each." minimum: ${type}!
    "The largest of each." maximum: ${type}!
    "The arithmetic mean of each." average: ${type}!
    "The sum of each." sum: ${type}!`
}
