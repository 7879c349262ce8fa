import type { Domain } from '../domain.ts'
import { type Field, isOfSomeVersions, kindOf, type LeafField } from '../fields.ts'
import { timestampKind } from '../kinds/timestamp.ts'
import type { Resource } from '../resource.ts'
import { type ApiVersion, isIn, VERSION_NAME, versionNumber } from './versions.ts'

/**
 * The contradictions in the versions of a domain and of its fields, each as one line. A domain with any cannot be
 * served.
 */
export function versionProblems({ resources, versions }: Domain): string[] {
  if (versions?.length === 0) return ['versions: leave it out, or name at least one']
  return [
    ...listProblems(versions ?? []),
    ...resources.flatMap((resource) => resourceProblems(resource, versions ?? [])),
  ]
}

function listProblems(versions: readonly ApiVersion[]): string[] {
  const newest = versions.at(-1)
  return [
    ...versions.flatMap((version, index) => versionProblemsOf(version, versions[index - 1])),
    ...(newest?.deprecated === undefined
      ? []
      : [`versions: ${newest.name} is the newest version, so it has no successor and cannot be deprecated`]),
  ]
}

function versionProblemsOf({ name, deprecated, sunset }: ApiVersion, previous?: ApiVersion): string[] {
  const problems = []
  if (!VERSION_NAME.test(name)) problems.push(`${name} is not the letter v and a number, as in v1`)
  else if (previous && versionNumber(previous.name) >= versionNumber(name)) {
    problems.push(`${name} comes after ${previous.name}, but the oldest version comes first`)
  }
  for (const [property, date] of Object.entries({ deprecated, sunset })) {
    if (date !== undefined && timeOf(date) === undefined) {
      problems.push(`${property} of ${name} must be a date such as 2031-04-05, not ${date}`)
    }
  }
  if (sunset !== undefined && deprecated === undefined) {
    problems.push(`${name} has sunset but not deprecated`)
  } else if ((timeOf(sunset) ?? Infinity) <= (timeOf(deprecated) ?? -Infinity)) {
    problems.push(`sunset of ${name} must be after deprecated`)
  }
  return problems.map((problem) => `versions: ${problem}`)
}

/** In milliseconds. */
function timeOf(date: string | undefined): number | undefined {
  const checked = timestampKind.check({ type: 'timestamp', description: '' }, date ?? '')
  return 'value' in checked ? (checked.value as Date).getTime() : undefined
}

function resourceProblems(resource: Resource, versions: readonly ApiVersion[]): string[] {
  const { path, fields } = resource
  return Object.entries(fields).flatMap(([name, field]) => [
    ...fieldProblems(`${path}.${name}`, field, versions),
    ...(field.type === 'group' ? memberProblems(`${path}.${name}`, field, field.fields, versions) : []),
  ])
}

function memberProblems(
  group: string,
  { since, until }: Field,
  members: Readonly<Record<string, LeafField>>,
  versions: readonly ApiVersion[],
): string[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const isWithin = [member.since, member.until].every(
      (version) =>
        version === undefined ||
        isIn(version, { ...(since !== undefined && { since }), ...(until !== undefined && { until }) }),
    )
    const place = `${group}.${name}`
    return [
      ...fieldProblems(place, member, versions),
      ...(isWithin ? [] : [`${place}: it is in versions that ${group} is not in`]),
    ]
  })
}

function fieldProblems(place: string, field: Field, versions: readonly ApiVersion[]): string[] {
  const { since, until } = field
  const names = versions.map(({ name }) => name)
  const declared = names.length > 0 ? `the domain has ${names.join(', ')}` : 'the domain declares no versions'
  const problems = Object.entries({ since, until }).flatMap(([property, version]) =>
    version === undefined || names.includes(version) ? [] : [`${property} is ${version}, but ${declared}`],
  )
  if (since !== undefined && until !== undefined && versionNumber(since) > versionNumber(until)) {
    problems.push(`since ${since} is after until ${until}, so no version has it`)
  }
  if (isOfSomeVersions(field) && field.type !== 'group') problems.push(...initialProblems(field))
  return problems.map((problem) => `${place}: ${problem}`)
}

/** A version without the field creates resources too, so a required field needs a value that is valid. */
function initialProblems(field: LeafField): string[] {
  const { required, initially } = field
  if (initially === undefined) {
    return required ? ['it is required and only in some versions, so it needs initially'] : []
  }
  const checked = kindOf(field).check(field, initially)
  if ('problem' in checked) return [`its initial value ${checked.problem}`]
  const isBlank = typeof initially === 'string' && initially.trim() === ''
  return required && isBlank ? ['it is required, so its initial value must not be blank'] : []
}
