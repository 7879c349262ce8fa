import { toGraphFilter, toGraphSort } from '../graph/names.ts'
import { type Detail, type DetailCode, DomainError } from '../model/errors.ts'
import { INTEGER_RANGE, kindOf } from '../model/fields.ts'
import type { Checked } from '../model/kinds/kind.ts'
import { DEFAULT_PAGE_SIZE, type Operator, queryable } from '../model/query/query.ts'
import type { Leaf, Resource, Values } from '../model/resource.ts'
import { isStorable } from '../model/values.ts'

/** The query string of a list (SPEC §4.1), as the variables of its operation and as text for links. */
export interface ListQuery {
  readonly page: number
  readonly limit: number
  readonly sort: readonly Values[]
  /** All of its conditions must hold. */
  readonly filter: { readonly and: readonly Values[] } | null
  readonly text: {
    readonly sort: string | undefined
    readonly filters: readonly string[]
    readonly id: string | undefined
    readonly cursor: string | undefined
  }
}

const PARAMETERS = ['page', 'limit', 'sort', 'filter', 'id', 'cursor']

const LISTS = ['sort', 'filter']

/**
 * Makes the function that parses the query strings of a resource's lists. All problems are reported in one error.
 *
 * @throws {DomainError} from the function: INVALID_QUERY_PARAMETER (400)
 */
export function listQueryParser(
  resource: Resource,
  maximumPageSize: number,
): (search: URLSearchParams) => ListQuery {
  const leaves = queryable(resource.shownLeaves)
  const known = [...new Set([...PARAMETERS, ...leaves.map(({ name }) => name)])]
  return (search) => parse(search, leaves, known, maximumPageSize)
}

function parse(
  search: URLSearchParams,
  leaves: readonly Leaf[],
  known: readonly string[],
  maximumPageSize: number,
): ListQuery {
  const problems: Detail[] = []
  const report = (field: string, code: DetailCode, message: string) => problems.push({ field, code, message })
  refuseUnknown(search, known, report)
  const filters = [...search].flatMap(([name, value]) => filterOf(leaves, name, value))
  const sorts = search.getAll('sort').flatMap((part) => part.split(','))
  const id = search.get('id') ?? undefined
  const page = positive(search, 'page', 1, INTEGER_RANGE.maximum, report)
  const limit = positive(search, 'limit', DEFAULT_PAGE_SIZE, maximumPageSize, report)
  const query: ListQuery = {
    page,
    limit,
    sort: sorts.flatMap((part) => parseSort(leaves, part, report)),
    filter: allOf([
      ...filters.flatMap((filter) => parseFilter(leaves, filter, report)),
      ...(id === undefined ? [] : idFilter(leaves, id, report)),
    ]),
    text: {
      sort: sorts.length > 0 ? sorts.join() : undefined,
      filters,
      id,
      cursor: search.get('cursor') ?? undefined,
    },
  }
  if (problems[0]) throw new DomainError('INVALID_QUERY_PARAMETER', problems[0].message, problems)
  return query
}

type Report = (field: string, code: DetailCode, message: string) => void

/** A parameter named like a field is a filter for equality (SPEC §2.5.3). */
function filterOf(leaves: readonly Leaf[], name: string, value: string): string[] {
  if (name === 'filter') return [value]
  const isField = !PARAMETERS.includes(name) && leaves.some((leaf) => leaf.name === name)
  return isField ? [`${name}:${value}`] : []
}

function refuseUnknown(search: URLSearchParams, known: readonly string[], report: Report): void {
  for (const name of new Set(search.keys())) {
    if (!known.includes(name)) {
      report(name, 'UNKNOWN_PARAMETER', `Unknown query parameter ${name}. Supported: ${known.join(', ')}.`)
    } else if (PARAMETERS.includes(name) && !LISTS.includes(name) && search.getAll(name).length > 1) {
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

function allOf(conditions: readonly Values[]): ListQuery['filter'] {
  return conditions.length === 0 ? null : { and: conditions }
}

function parseSort(leaves: readonly Leaf[], part: string, report: Report): Values[] {
  const [name = '', direction, ...rest] = part.split(':')
  const leaf = leafNamed(leaves, 'sort', name, report)
  if ((direction !== 'asc' && direction !== 'desc') || rest.length > 0) {
    report(
      'sort',
      'INVALID_FORMAT',
      'sort must be field:asc or field:desc; several are joined by commas or repeated.',
    )
    return []
  }
  return leaf ? [toGraphSort(leaf, direction)] : []
}

const FILTER = /^(?<name>[^:[\]]*)(?:\[(?<operator>[^:[\]]*)\])?:(?<value>.*)$/s

function parseFilter(leaves: readonly Leaf[], filter: string, report: Report): Values[] {
  const { name, operator: named, value } = FILTER.exec(filter)?.groups ?? {}
  if (name === undefined || value === undefined) {
    report('filter', 'INVALID_FORMAT', 'filter must be field:value or field[operator]:value.')
    return []
  }
  const leaf = leafNamed(leaves, 'filter', name, report)
  if (!leaf) return []
  const nameable: readonly string[] = kindOf(leaf.field).operators.filter((known) => known !== 'equals')
  if (named !== undefined && !nameable.includes(named)) {
    report(
      'filter',
      'INVALID_VALUE',
      `${name} does not support the operator ${named}. Supported: ${nameable.join(', ')}.`,
    )
    return []
  }
  const operator = (named as Operator | undefined) ?? 'equals'
  const parsed = parseFilterValue(leaf, operator, value)
  if ('problem' in parsed) {
    report('filter', parsed.code, `filter: ${name} ${parsed.problem}.`)
    return []
  }
  return [toGraphFilter(leaf, operator, parsed.value)]
}

function idFilter(leaves: readonly Leaf[], id: string, report: Report): Values[] {
  if (!isStorable(id)) report('id', 'INVALID_VALUE', 'id must not contain U+0000.')
  const leaf = leaves.find(({ name }) => name === 'id') as Leaf
  return [toGraphFilter(leaf, 'equals', id)]
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
    report(parameter, 'UNKNOWN_FIELD', `${parameter}: unknown field ${name}. Supported: ${known}.`)
  }
  return leaf
}

/** The value of a filter with the type of its field. `in` has several values, joined by `|`. */
function parseFilterValue({ field }: Leaf, operator: Operator, text: string): Checked {
  if (operator !== 'in') return kindOf(field).fromQuery(field, text)
  const values = text.split('|').map((part) => kindOf(field).fromQuery(field, part))
  const problem = values.find((checked) => 'problem' in checked)
  return problem ?? { value: values.map((checked) => (checked as { value: unknown }).value) }
}
