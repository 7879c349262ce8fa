import { toGraphFilter, toGraphSort } from '../graph/names.ts'
import { MAXIMUM_VALUES } from '../graph/schema/filters.ts'
import { kindOf } from '../model/definition/fields.ts'
import type { Leaf, Resource, Values } from '../model/definition/resource.ts'
import { refuseWithheld } from '../model/definition/views.ts'
import { booleanKind } from '../model/kinds/boolean.ts'
import { INTEGER_RANGE } from '../model/kinds/integer.ts'
import type { Checked } from '../model/kinds/kind.ts'
import { namedOperators, type Operator, operatorDefinition } from '../model/query/operators.ts'
import { MAXIMUM_SORTS, queryable, sortable } from '../model/query/query.ts'
import { checkSearch } from '../model/query/search.ts'
import { QueryParameters, SHOWN_CHARACTERS } from './query-parameters.ts'
import { SELECTION_PARAMETERS, selectionParser } from './selection.ts'

const PARAMETERS = ['page', 'limit', 'sort', 'filter', 'q', 'id', ...SELECTION_PARAMETERS, 'cursor']

const LISTS = ['sort', 'filter', ...SELECTION_PARAMETERS]

const FILTER = /^(?<name>[^:[\]]*)(?:\[(?<operator>[^:[\]]*)\])?:(?<value>.*)$/s

/**
 * Parses the query strings of lists (SPEC §4.1) as variables of the operation, and as parameters of links. One error
 * reports all problems.
 *
 * @throws {DomainError} from the function: INVALID_QUERY_PARAMETER (400)
 */
export function listQueryParser(
  resource: Resource,
  maximumPageSize: number,
  select = selectionParser(resource, [resource]),
) {
  const leaves = queryable(resource.shownLeaves)
  const sortables = sortable(leaves)
  const names = leaves.map(({ name }) => name)
  const fields = new Set(names.filter((name) => !PARAMETERS.includes(name)))
  const idLeaf = leaves.find(({ name }) => name === 'id') as Leaf
  return (sent: URLSearchParams, raw = String(sent)) => {
    const query = new QueryParameters(sent)
    const { search } = query
    query.checkNames(PARAMETERS, LISTS, names)
    const page = query.positive('page', 1, INTEGER_RANGE.maximum)
    const limit = query.limit(maximumPageSize)
    const sorts = search.getAll('sort').flatMap((part) => part.split(','))
    const sort =
      sorts.length > MAXIMUM_SORTS
        ? query.report('sort', 'TOO_LONG', `sort must not have more than ${MAXIMUM_SORTS} fields.`)
        : sorts.flatMap((part) => parseSort(part, sortables, query))
    // A parameter named like a field is a filter for equality (SPEC §2.5.3).
    const filters = [...search].flatMap(([name, value]) =>
      name === 'filter' ? [value] : fields.has(name) ? [`${name}:${value}`] : [],
    )
    const named = [...search.keys()].filter((name) => !PARAMETERS.includes(name))
    const joined = joinedFilters(search.getAll('filter'), raw)
    for (const part of [...named, ...sorts, ...filters, ...joined])
      refuseWithheld(resource, /^[^:[]*/.exec(part)?.[0] ?? '')
    for (const name of names.filter((one) => joined.has(one))) {
      const message = `filter: repeat the parameter for ${name}. In a text, write the comma before ${name}: as %2C, or use [in].`
      query.report('filter', 'INVALID_FORMAT', message)
    }
    const id = search.get('id') ?? undefined
    const words = search.get('q') ?? undefined
    const checked = checkSearch(words ?? '')
    if ('problem' in checked) query.report('q', checked.code, `q ${checked.problem}.`)
    const conditions = filters.flatMap((filter) => parseFilter(filter, leaves, query))
    if (id !== undefined) {
      const parsed = parseOperand(idLeaf, 'equals', id)
      if ('problem' in parsed) query.report('id', parsed.code, `id ${parsed.problem}.`)
      else conditions.push(toGraphFilter(idLeaf, 'equals', id))
    }
    const selection = select(query, limit)
    query.refuseProblems()
    const filter = conditions.length > 0 ? { and: conditions } : null
    const cursor = search.get('cursor') ?? undefined
    return {
      variables: { page, limit, cursor, sort, filter, search: words },
      selection,
      parameters: {
        limit,
        sort: sorts.length > 0 ? sorts.join() : undefined,
        filter: filters,
        q: words,
        id,
        fields: selection?.fields && search.getAll('fields').join(),
        embed: selection?.embeds && search.getAll('embed').join(),
        cursor,
      },
    }
  }
}

/** A comma that is encoded, before a colon that is not, belongs to a text. */
const TEXT_COMMA = /%2C[\w.]+(?:\[\w+\]|%5B\w+%5D)?:/i

/**
 * The names behind the commas in filters. Some clients join several filters with commas, which would else be one text.
 * A condition with `in` and one value, or an encoded comma, is a text.
 */
function joinedFilters(filters: readonly string[], raw: string): Set<string> {
  const encoded = raw.split('&').filter((part) => TEXT_COMMA.test(part))
  const texts = [...new URLSearchParams(encoded.join('&')).values()]
  const names = filters
    .filter((filter) => !/^[^:]*\[in\]:[^|]*$/.test(filter) && !texts.includes(filter))
    .flatMap((filter) => [...filter.matchAll(/,([\w.]+)(?:\[\w+\])?:/g)].map(([, name = '']) => name))
  return new Set(names)
}

function parseSort(part: string, leaves: readonly Leaf[], query: QueryParameters): Values[] {
  const [name = '', direction, ...rest] = part.split(':')
  const leaf = knownLeaf('sort', name, leaves, query)
  if ((direction !== 'asc' && direction !== 'desc') || rest.length > 0) {
    const message = 'sort must be field:asc or field:desc. Separate several with commas, or repeat sort.'
    return query.report('sort', 'INVALID_FORMAT', message)
  }
  return leaf ? [toGraphSort(leaf, direction)] : []
}

function parseFilter(filter: string, leaves: readonly Leaf[], query: QueryParameters): Values[] {
  const { name, operator: named, value } = FILTER.exec(filter)?.groups ?? {}
  if (name === undefined || value === undefined) {
    const message = 'filter must be field:value or field[operator]:value.'
    return query.report('filter', 'INVALID_FORMAT', message)
  }
  const leaf = knownLeaf('filter', name, leaves, query)
  if (!leaf) return []
  const { operators } = kindOf(leaf.field)
  const nameable = namedOperators(operators)
  const operator = named === undefined ? operators[0] : nameable.get(named)
  if (!operator) {
    const supported = [...nameable.keys()].join(', ')
    const message = `${name} does not support the operator ${named?.slice(0, SHOWN_CHARACTERS)}. Supported: ${supported}.`
    return query.report('filter', 'INVALID_VALUE', message)
  }
  const parsed = parseOperand(leaf, operator, value)
  if ('problem' in parsed) return query.report('filter', parsed.code, `filter: ${name} ${parsed.problem}.`)
  return [toGraphFilter(leaf, operator, parsed.value)]
}

function knownLeaf(
  parameter: string,
  name: string,
  leaves: readonly Leaf[],
  query: QueryParameters,
): Leaf | undefined {
  const leaf = leaves.find((candidate) => candidate.name === name)
  if (!leaf) {
    const known = leaves.map((candidate) => candidate.name).join(', ')
    const shown = name.slice(0, SHOWN_CHARACTERS)
    query.report(parameter, 'UNKNOWN_FIELD', `${parameter}: unknown field ${shown}. Supported: ${known}.`)
  }
  return leaf
}

/** The type of the operand follows from the field or the operator. `|` separates several values. */
function parseOperand({ field }: Leaf, operator: Operator, text: string): Checked {
  const { operand } = operatorDefinition(operator)
  if (operand === 'boolean') return booleanKind.fromQuery({ type: 'boolean', description: '' }, text)
  if (operand !== 'values') return kindOf(field).fromQuery(field, text)
  const values = text.split('|', MAXIMUM_VALUES + 1).map((part) => kindOf(field).fromQuery(field, part))
  const problem = values.find((checked) => 'problem' in checked)
  return problem ?? { value: values.map((checked) => (checked as { value: unknown }).value) }
}
