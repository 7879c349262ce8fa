import { groupable } from '../../domain/aggregate.ts'
import { operationsOf } from '../../domain/model/operations.ts'
import { queryable } from '../../domain/model/query.ts'
import type { Leaf, Resource } from '../../domain/model/resource.ts'
import { graphNames, sortValue } from '../names.ts'
import { objectResolvers } from './object-resolvers.ts'
import { mutations, queries } from './operation-resolvers.ts'
import { scalars } from './scalars.ts'

type Resolvers = Record<string, Record<string, unknown>>

/** The resolvers of the whole schema, made from the definitions. Authorization comes first in each. */
export function createResolvers(resources: readonly Resource[]): Resolvers {
  const root: Resolvers = {
    ...(scalars as unknown as Resolvers),
    Query: { collections: () => resources.filter(({ kind }) => kind === 'collection') },
    Mutation: {},
  }
  for (const resource of resources) {
    Object.assign(root['Query'] as object, queries(resource, resources))
    Object.assign(root['Mutation'] as object, mutations(resource))
    Object.assign(root, types(resource, resources))
  }
  return root
}

function types(resource: Resource, resources: readonly Resource[]): Resolvers {
  const names = graphNames(resource)
  const values = (leaves: readonly Leaf[]) =>
    Object.fromEntries(leaves.map(({ column, name }) => [sortValue(column), name]))
  return {
    ...objectResolvers(resource, resources),
    ...(operationsOf(resource).listed && {
      [names.sortField]: values(queryable(resource.leaves)),
    }),
    [names.groupField]: values(groupable(resource.leaves)),
  }
}
