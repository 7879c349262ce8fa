import { markOf } from '../../test/helpers/load/kill.ts'
import type { Outcome, Sent } from '../../test/helpers/load/load.ts'
import type { Json } from '../../test/helpers/service/client.ts'

export const COLLECTION = '/api/v1/species'

/** A way to read several species at once. */
export interface ReadOfMany {
  requestFor(ids: readonly string[]): Sent
  /** The marks that a response with status 200 has, by id; undefined if it says that the database does not answer. */
  marksIn(outcome: Outcome): ReadonlyMap<string, string> | undefined
}

/** As a list through REST. */
export const listed: ReadOfMany = {
  requestFor: (ids) => ({
    method: 'GET',
    path: `${COLLECTION}?limit=${ids.length}&filter=id[in]:${ids.join('%7C')}`,
  }),
  marksIn(outcome) {
    const { _embedded, total_count } = bodyOf(outcome)
    return marksOf(_embedded.species, total_count)
  },
}

const QUERY = `query ($ids: [ID!], $limit: Int!) {
  speciesPage(limit: $limit, filter: { id: { in: $ids } }) {
    totalCount
    items { id scientific_name: scientificName common_name: commonName habitat classification { kingdom class phylum } }
  }
}`

/** Through GraphQL. */
export const queried: ReadOfMany = {
  requestFor: (ids) => ({
    method: 'POST',
    path: '/graphql',
    body: { query: QUERY, variables: { ids, limit: ids.length } },
  }),
  marksIn(outcome) {
    const { data, errors = [] } = bodyOf(outcome)
    if (errors.length === 0) return marksOf(data.speciesPage.items, data.speciesPage.totalCount)
    if (errors.every(({ extensions }: Json) => extensions.code === 'SERVICE_UNAVAILABLE')) return undefined
    throw new Error(`GraphQL: ${JSON.stringify(errors)}`)
  },
}

function marksOf(species: readonly Json[], count: number): ReadonlyMap<string, string> {
  if (species.length !== count) throw new Error(`a list of ${species.length} species counts ${count}`)
  return new Map(species.map((one) => [one.id, markOf(one)]))
}

function bodyOf(outcome: Outcome): Json {
  return outcome.kind === 'answered' ? JSON.parse(outcome.body) : {}
}
