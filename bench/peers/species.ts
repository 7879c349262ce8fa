// What a service for this one resource has to know, written by hand and shared by the peers that are: rows, and how they
// are shown. The bodies are in species-body.ts.

/** A row of the table of species. */
export interface SpeciesRow {
  id: string
  scientific_name: string
  common_name: string | null
  classification_kingdom: string | null
  classification_class: string | null
  classification_phylum: string | null
  habitat: string | null
  planet_origin: string | null
  planet_id: string | null
  temperature_range_min_celsius: number | null
  temperature_range_max_celsius: number | null
  bioluminescent: boolean | null
  intelligence_level: string | null
  discovery_status: string
  discovered_date: Date
  last_updated: Date
  version: number
}

/** The fields of a species as a client sees them; what is not set is left out. */
export function fieldsOf(row: SpeciesRow): Record<string, unknown> {
  const fields: Record<string, unknown> = { id: row.id, scientific_name: row.scientific_name }
  if (row.common_name !== null) fields['common_name'] = row.common_name
  const classification: Record<string, unknown> = {}
  if (row.classification_kingdom !== null) classification['kingdom'] = row.classification_kingdom
  if (row.classification_class !== null) classification['class'] = row.classification_class
  if (row.classification_phylum !== null) classification['phylum'] = row.classification_phylum
  if (Object.keys(classification).length > 0) fields['classification'] = classification
  if (row.habitat !== null) fields['habitat'] = row.habitat
  if (row.planet_origin !== null) fields['planet_origin'] = row.planet_origin
  const range: Record<string, unknown> = {}
  if (row.temperature_range_min_celsius !== null) range['min_celsius'] = row.temperature_range_min_celsius
  if (row.temperature_range_max_celsius !== null) range['max_celsius'] = row.temperature_range_max_celsius
  if (Object.keys(range).length > 0) fields['temperature_range'] = range
  if (row.bioluminescent !== null) fields['bioluminescent'] = row.bioluminescent
  if (row.intelligence_level !== null) fields['intelligence_level'] = row.intelligence_level
  fields['discovery_status'] = row.discovery_status
  fields['discovered_date'] = row.discovered_date
  fields['last_updated'] = row.last_updated
  return fields
}

/** A species with the links of GET one. */
export function shown(row: SpeciesRow, base: string): object {
  const self = { href: `${base}/species/${row.id}` }
  const planet = row.planet_id !== null && { planet: { href: `${base}/planets/${row.planet_id}` } }
  const links = { self, collection: { href: `${base}/species` }, edit: self, delete: self, ...planet }
  return { ...fieldsOf(row), _links: links }
}

/** A species with the links of the answer to POST. */
export function created(row: SpeciesRow, base: string): object {
  const self = { href: `${base}/species/${row.id}` }
  const planet = row.planet_id !== null && { planet: { href: `${base}/planets/${row.planet_id}` } }
  return { ...fieldsOf(row), _links: { self, collection: { href: `${base}/species` }, ...planet } }
}

/** What a list is asked for. */
export interface ListQuery {
  page: number
  limit: number
  sort: string | undefined
  filter: string | undefined
}

/** A page of the list in its envelope. */
export function listed(rows: SpeciesRow[], total: number, query: ListQuery, base: string): object {
  const { page, limit } = query
  const pages = Math.ceil(total / limit)
  const last = Math.max(pages, 1)
  const sort = query.sort === undefined ? '' : `&sort=${query.sort}`
  const filter = query.filter === undefined ? '' : `&filter=${query.filter}`
  const link = (number: number) => ({
    href: `${base}/species?page=${number}&limit=${limit}${sort}${filter}`,
  })
  return {
    _links: {
      self: link(page),
      first: link(1),
      last: link(last),
      next: page < pages ? link(page + 1) : null,
      prev: page > 1 ? link(Math.min(page - 1, last)) : null,
      find: { href: `${base}/species{?id}`, templated: true },
    },
    page,
    limit,
    total_pages: pages,
    total_count: total,
    has_more: page < pages,
    _embedded: {
      species: rows.map((row) => ({
        ...fieldsOf(row),
        _links: { self: { href: `${base}/species/${row.id}` } },
      })),
    },
  }
}

/** The fields that can be sorted and filtered by here. */
const COLUMNS = new Set([
  'id',
  'scientific_name',
  'common_name',
  'habitat',
  'planet_origin',
  'discovered_date',
])

/** Reads the query string; undefined where it is wrong. */
export function listQuery(search: URLSearchParams): ListQuery | undefined {
  for (const name of search.keys()) if (!['page', 'limit', 'sort', 'filter'].includes(name)) return undefined
  const page = search.get('page') ?? '1'
  const limit = search.get('limit') ?? '20'
  const sort = search.get('sort') ?? undefined
  const filter = search.get('filter') ?? undefined
  if (!/^[1-9]\d*$/.test(page) || !/^[1-9]\d*$/.test(limit) || Number(limit) > 100) return undefined
  if (sort !== undefined && !(COLUMNS.has(sort.split(':')[0] as string) && /:(asc|desc)$/.test(sort)))
    return undefined
  if (filter !== undefined && !COLUMNS.has(filter.slice(0, filter.indexOf(':')))) return undefined
  return { page: Number(page), limit: Number(limit), sort, filter }
}

export function entityTag({ id, version }: SpeciesRow): string {
  return `"${id}:${version}"`
}

/** What is wrong with a body, as the details of an error. */
export interface Problem {
  field: string
  code: string
  message: string
}

/** An error in the envelope. */
export function failure(code: string, message: string, details: Problem[] = []): object {
  return { error: { code, message, details } }
}
