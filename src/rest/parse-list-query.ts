import { type Detail, type DetailCode, DomainError } from '../domain/model/errors.ts'
import { type Operator, operatorsOf, queryable } from '../domain/model/query.ts'
import type { Leaf, Resource } from '../domain/model/resource.ts'
import { isStorable } from '../domain/model/values.ts'
import { parseFilterValue } from './parse-filter-value.ts'

export interface ListFilter {
  readonly leaf: Leaf
  readonly operator: Operator
  readonly value: unknown
}

export interface ListSort {
  readonly leaf: Leaf
  readonly direction: 'asc' | 'desc'
}

/** What the query string of a list asks for (SPEC §4.1), and the parts of it that go into links. */
export interface ListQuery {
  readonly page: number
  readonly limit: number
  readonly sorts: readonly ListSort[]
  readonly filters: readonly ListFilter[]
  readonly text: {
    readonly sort: string | undefined
    readonly filters: readonly string[]
    readonly id: string | undefined
    readonly cursor: string | undefined
  }
}

export const DEFAULT_LIMIT = 20
const LARGEST_PAGE = 2147483647
const PARAMETERS = ['page', 'limit', 'sort', 'filter', 'id', 'cursor']

/**
 * Parses the query string of a list. All that is wrong with it is reported at once.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400)
 */
export function parseListQuery(
  resource: Resource,
  search: URLSearchParams,
  maximumPageSize: number,
): ListQuery {
  const problems: Detail[] = []
  const report = (field: string, code: DetailCode, message: string) => problems.push({ field, code, message })
  refuseUnknown(search, report)
  const filters = search.getAll('filter')
  const sort = search.get('sort') ?? undefined
  const id = search.get('id') ?? undefined
  const leaves = queryable(resource.shownLeaves)
  const query: ListQuery = {
    page: positive(search, 'page', 1, LARGEST_PAGE, report),
    limit: positive(search, 'limit', DEFAULT_LIMIT, maximumPageSize, report),
    sorts: sort === undefined ? [] : sort.split(',').flatMap((part) => parseSort(leaves, part, report)),
    filters: [
      ...filters.flatMap((filter) => parseFilter(leaves, filter, report)),
      ...(id === undefined ? [] : idFilter(leaves, id, report)),
    ],
    text: { sort, filters, id, cursor: search.get('cursor') ?? undefined },
  }
  if (problems[0]) throw new DomainError('INVALID_QUERY_PARAMETER', problems[0].message, problems)
  return query
}

type Report = (field: string, code: DetailCode, message: string) => void

/**
 * Refuses any query parameter, for what is not a list.
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400)
 */
export function refuseQuery(search: URLSearchParams): void {
  const details = [...new Set(search.keys())].map((field): Detail => {
    return { field, code: 'UNKNOWN_PARAMETER', message: `There is no query parameter ${field} here.` }
  })
  if (details[0]) throw new DomainError('INVALID_QUERY_PARAMETER', details[0].message, details)
}

function refuseUnknown(search: URLSearchParams, report: Report): void {
  for (const name of new Set(search.keys())) {
    if (!PARAMETERS.includes(name)) {
      report(
        name,
        'UNKNOWN_PARAMETER',
        `There is no query parameter ${name}; there are ${PARAMETERS.join(', ')}.`,
      )
    } else if (name !== 'filter' && search.getAll(name).length > 1) {
      report(name, 'REPEATED_PARAMETER', `${name} must be given once.`)
    }
  }
}

function positive(
  search: URLSearchParams,
  name: string,
  otherwise: number,
  maximum: number,
  report: Report,
): number {
  const text = search.get(name)
  if (text === null) return otherwise
  const number = /^[1-9][0-9]*$/.test(text) ? Number(text) : 0
  if (number < 1 || number > maximum) {
    report(name, 'OUT_OF_RANGE', `${name} must be a whole number from 1 to ${maximum}, written in digits.`)
  }
  return number
}

function parseSort(leaves: readonly Leaf[], part: string, report: Report): ListSort[] {
  const [name = '', direction, ...rest] = part.split(':')
  const leaf = leafNamed(leaves, 'sort', name, report)
  if ((direction !== 'asc' && direction !== 'desc') || rest.length > 0) {
    report('sort', 'INVALID_FORMAT', 'sort is field:asc or field:desc, several joined by commas.')
    return []
  }
  return leaf ? [{ leaf, direction }] : []
}

const FILTER = /^(?<name>[^:[\]]*)(?:\[(?<operator>[^:[\]]*)\])?:(?<value>.*)$/s

function parseFilter(leaves: readonly Leaf[], filter: string, report: Report): ListFilter[] {
  const { name, operator: named, value } = FILTER.exec(filter)?.groups ?? {}
  if (name === undefined || value === undefined) {
    report('filter', 'INVALID_FORMAT', 'filter is field:value, or field[operator]:value.')
    return []
  }
  const leaf = leafNamed(leaves, 'filter', name, report)
  if (!leaf) return []
  const nameable: readonly string[] = operatorsOf(leaf).filter((known) => known !== 'equals')
  if (named !== undefined && !nameable.includes(named)) {
    report('filter', 'INVALID_VALUE', `${name} has no operator ${named}; it has ${nameable.join(', ')}.`)
    return []
  }
  const operator = (named as Operator | undefined) ?? 'equals'
  const parsed = parseFilterValue(leaf, operator, value)
  if ('problem' in parsed) {
    report('filter', parsed.code, `filter: ${name} ${parsed.problem}.`)
    return []
  }
  return [{ leaf, operator, value: parsed.value }]
}

function idFilter(leaves: readonly Leaf[], id: string, report: Report): ListFilter[] {
  if (!isStorable(id)) report('id', 'INVALID_VALUE', 'id must not hold U+0000.')
  const leaf = leaves.find(({ name }) => name === 'id') as Leaf
  return [{ leaf, operator: 'equals', value: id }]
}

function leafNamed(
  leaves: readonly Leaf[],
  parameter: string,
  name: string,
  report: Report,
): Leaf | undefined {
  const leaf = leaves.find((candidate) => candidate.name === name)
  if (!leaf) {
    const known = leaves.map((candidate) => candidate.name).join(', ')
    report(parameter, 'UNKNOWN_FIELD', `${parameter}: there is no field ${name}; there are ${known}.`)
  }
  return leaf
}
