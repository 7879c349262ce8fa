// The bodies of species: what is valid, the columns that they set, and what a patch makes of them.
import { fieldsOf, type Problem, type SpeciesRow } from './species.ts'

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
