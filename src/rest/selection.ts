import { camelCase, singular } from '../graph/names.ts'
import { authorize, type Caller } from '../model/access/caller.ts'
import type { Field } from '../model/definition/fields.ts'
import { linkedFrom } from '../model/definition/relations.ts'
import type { Resource } from '../model/definition/resource.ts'
import { refuseWithheld } from '../model/definition/views.ts'
import type { DetailCode } from '../model/errors.ts'
import { DEFAULT_PAGE_SIZE } from '../model/query/query.ts'
import { createHal, type Embed, type ListData, picker, type Selection } from './hal.ts'
import { type QueryParameters, SHOWN_CHARACTERS } from './query-parameters.ts'

export const SELECTION_PARAMETERS = ['fields', 'embed']

/** In all lists embedded in a page: 100 items with one list each, or 20 with five. */
const MAXIMUM_EMBEDDED_ITEMS = 2_000

/** Unknown names that an error reports. */
const MAXIMUM_REPORTED = 10

/** Parses `fields` and `embed`: names, separated by commas or in repeated parameters. */
export function selectionParser(
  resource: Resource,
  resources: readonly Resource[],
  pageSize = DEFAULT_PAGE_SIZE,
) {
  const names = selectableNames(resource)
  const embeds = embedsOf(resource, resources, pageSize)
  const relations = embeds.map(({ relation }) => relation)
  return (parameters: QueryParameters, limit = 1): Selection | undefined => {
    const fields = namesIn(parameters, 'fields', 'UNKNOWN_FIELD', names)
    const embed = namesIn(parameters, 'embed', 'INVALID_VALUE', relations)
    for (const name of fields ?? []) refuseWithheld(resource, name)
    if (!fields && !embed) return undefined
    const chosen = embed && embeds.filter(({ relation }) => embed.includes(relation))
    checkItems(parameters, pageSize, chosen, limit)
    const shown = fields && fieldsNamed(resource.shownFields, fields)
    const leaves = resource.shownLeaves.filter(
      ({ name, path: [outer = ''] }) =>
        !fields || ['id', ...fields].some((one) => one === name || one === outer),
    )
    return { fields: shown, membersOf: shown && picker(shown), leaves, embeds: chosen }
  }
}

/** In the order of the links. */
export function embedsOf(
  resource: Resource,
  resources: readonly Resource[],
  pageSize = DEFAULT_PAGE_SIZE,
): Embed[] {
  const { owner } = resource
  const { references, children, filtered } = linkedFrom(resource, resources)

  /** @param filter for a list outside the resource, the field that refers to it */
  function embed(relation: string, name: string, target: Resource, isList = false, filter?: string): Embed {
    const hal = createHal(target, resources)
    const parent = isList && filter === undefined ? resource : undefined
    return {
      relation,
      name,
      target,
      isList,
      parent,
      pageSize,
      represent(value, of, urls) {
        if (!isList) return hal.resource(value, 'read', urls)
        const id = of['id'] as string
        const parameters = { limit: pageSize, filter: parent ? [] : [`${filter}:${id}`] }
        const result = value as unknown as ListData['result']
        return hal.list({ result, page: 1, parameters, parent: parent && { resource, id } }, urls)
      },
    }
  }

  return [
    ...(owner ? [embed('parent', singular(owner), owner)] : []),
    ...references.map(({ relation, target }) => embed(relation, camelCase(relation), target)),
    ...children.map(({ child, relation }) => embed(relation, camelCase(relation), child, child.listed)),
    ...filtered.map(({ child, relation, leaf }) =>
      embed(relation, camelCase(relation), child, true, leaf.name),
    ),
  ]
}

export function selectableNames({ shownFields, shownLeaves }: Resource): string[] {
  return [...new Set([...Object.keys(shownFields), ...shownLeaves.map(({ name }) => name)])]
}

/** @throws {DomainError} ACCESS_DENIED (403) without the read scopes of all embedded collections */
export function authorizeEmbeds(caller: Caller, { embeds = [] }: Selection): void {
  for (const { target } of embeds) authorize(caller, target, 'read')
}

function namesIn(
  parameters: QueryParameters,
  field: string,
  code: DetailCode,
  leafNames: readonly string[],
): string[] | undefined {
  const { search } = parameters
  if (!search.has(field)) return undefined
  const names = [...new Set(search.getAll(field).join().split(','))]
  const supported = leafNames.join(', ') || 'none'
  for (const name of names.filter((name) => !leafNames.includes(name)).slice(0, MAXIMUM_REPORTED)) {
    const problem = name === '' ? 'a name is missing' : `unknown name ${name.slice(0, SHOWN_CHARACTERS)}`
    parameters.report(field, code, `${field}: ${problem}. Supported: ${supported}.`)
  }
  return names
}

function checkItems(
  parameters: QueryParameters,
  pageSize: number,
  embeds: readonly Embed[] = [],
  limit: number,
): void {
  const lists = embeds.filter(({ isList }) => isList).length
  const most = Math.floor(MAXIMUM_EMBEDDED_ITEMS / pageSize / lists)
  if (limit <= most) return
  const message = `embed: with ${lists} lists of ${pageSize} in each item, limit must be at most ${most}.`
  parameters.report('embed', 'LIMIT_EXCEEDED', message)
}

function fieldsNamed(fields: Resource['shownFields'], names: readonly string[]): Resource['shownFields'] {
  const entries = Object.entries(fields).flatMap(([name, field]): [string, Field][] => {
    if (name === 'id' || names.includes(name)) return [[name, field]]
    if (field.type !== 'group') return []
    const members = Object.entries(field.fields).filter(([member]) => names.includes(`${name}.${member}`))
    return members.length > 0 ? [[name, { ...field, fields: Object.fromEntries(members) }]] : []
  })
  return Object.fromEntries(entries)
}
