// What a service for this one resource has to know, written by hand and shared by the peers that are.

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

/** The columns that a body sets. */
export type SpeciesColumns = Omit<
  SpeciesRow,
  'id' | 'discovery_status' | 'discovered_date' | 'last_updated' | 'version'
>

/** A body, once it is known to be valid. */
export interface SpeciesBody {
  id?: string
  scientific_name: string
  common_name?: string | null
  classification?: { kingdom?: string | null; class?: string | null; phylum?: string | null } | null
  habitat?: string | null
  planet_origin?: string | null
  temperature_range?: { min_celsius?: number | null; max_celsius?: number | null } | null
  bioluminescent?: boolean | null
  intelligence_level?: string | null
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

/** What is wrong with a body, as the details of an error. */
export interface Problem {
  field: string
  code: string
  message: string
}

const TEXTS = ['scientific_name', 'common_name', 'habitat', 'planet_origin', 'intelligence_level'] as const
const MEMBERS = new Set<string>([
  ...TEXTS,
  'id',
  'classification',
  'temperature_range',
  'bioluminescent',
  'discovery_status',
  'discovered_date',
  'last_updated',
  '_links',
  '_embedded',
])

/** Checks a whole body: types, required fields, lengths, unknown fields, the range. */
export function problemsOf(body: unknown): Problem[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return [{ field: '', code: 'INVALID_TYPE', message: 'The body must be a JSON object.' }]
  }
  const values = body as Record<string, unknown>
  const problems: Problem[] = []
  const report = (field: string, code: string) =>
    problems.push({ field, code, message: `${field} is not valid.` })
  for (const name of Object.keys(values)) if (!MEMBERS.has(name)) report(name, 'UNKNOWN_FIELD')
  for (const name of TEXTS) checkText(name, values[name], report)
  checkGroup('classification', ['kingdom', 'class', 'phylum'], values['classification'], 'string', report)
  checkGroup(
    'temperature_range',
    ['min_celsius', 'max_celsius'],
    values['temperature_range'],
    'number',
    report,
  )
  const bioluminescent = values['bioluminescent'] ?? undefined
  if (bioluminescent !== undefined && typeof bioluminescent !== 'boolean')
    report('bioluminescent', 'INVALID_TYPE')
  const name = values['scientific_name'] ?? ''
  if (typeof name === 'string' && name.trim() === '') report('scientific_name', 'REQUIRED_FIELD')
  const range = values['temperature_range'] as SpeciesBody['temperature_range']
  if ((range?.min_celsius ?? -Infinity) > (range?.max_celsius ?? Infinity)) {
    report('temperature_range.min_celsius', 'INVALID_RANGE')
  }
  return problems
}

type Report = (field: string, code: string) => void

function checkText(name: string, value: unknown, report: Report): void {
  if (value === undefined || value === null) return
  if (typeof value !== 'string') report(name, 'INVALID_TYPE')
  else if (value.includes('\0') || !value.isWellFormed()) report(name, 'INVALID_VALUE')
  else if (value.length > 500 && [...value].length > 500) report(name, 'TOO_LONG')
}

function checkGroup(group: string, members: string[], value: unknown, type: string, report: Report): void {
  if (value === undefined || value === null) return
  if (typeof value !== 'object' || Array.isArray(value)) {
    report(group, 'INVALID_TYPE')
    return
  }
  for (const [member, inner] of Object.entries(value)) {
    const name = `${group}.${member}`
    if (!members.includes(member)) report(name, 'UNKNOWN_FIELD')
    else if (type === 'string') checkText(name, inner, report)
    else if (inner !== null && typeof inner !== 'number') report(name, 'INVALID_TYPE')
  }
}

/** Whether a temperature breaks the one business rule there is. */
export function isTooCold({ temperature_range: range }: SpeciesBody): boolean {
  return (range?.min_celsius ?? 0) < -273.15 || (range?.max_celsius ?? 0) < -273.15
}

/** The columns for a valid body. */
export function columnsOf(body: SpeciesBody, planetId: string | null): SpeciesColumns {
  return {
    scientific_name: body.scientific_name,
    common_name: body.common_name ?? null,
    classification_kingdom: body.classification?.kingdom ?? null,
    classification_class: body.classification?.class ?? null,
    classification_phylum: body.classification?.phylum ?? null,
    habitat: body.habitat ?? null,
    planet_origin: body.planet_origin ?? null,
    planet_id: planetId,
    temperature_range_min_celsius: body.temperature_range?.min_celsius ?? null,
    temperature_range_max_celsius: body.temperature_range?.max_celsius ?? null,
    bioluminescent: body.bioluminescent ?? null,
    intelligence_level: body.intelligence_level ?? null,
  }
}

/** The body that a merge patch makes of a stored species (RFC 7396). */
export function patched(row: SpeciesRow, patch: Record<string, unknown>): SpeciesBody {
  const { id, discovery_status, discovered_date, last_updated, ...fields } = fieldsOf(row)
  return merged(fields, patch) as SpeciesBody
}

function merged(target: Record<string, unknown>, patch: Record<string, unknown>): unknown {
  const result = { ...target }
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else if (typeof value === 'object' && !Array.isArray(value)) {
      result[name] = merged((result[name] as Record<string, unknown>) ?? {}, value as Record<string, unknown>)
    } else result[name] = value
  }
  return result
}

export function entityTag({ id, version }: SpeciesRow): string {
  return `"${id}:${version}"`
}

/** An error in the envelope. */
export function failure(code: string, message: string, details: Problem[] = []): object {
  return { error: { code, message, details } }
}
