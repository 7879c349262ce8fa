import { toGraphFilter, toGraphSort } from '../graph/names.ts'
import { kindOf } from '../model/fields.ts'
import { booleanKind } from '../model/kinds/boolean.ts'
import { INTEGER_RANGE } from '../model/kinds/integer.ts'
import type { Checked } from '../model/kinds/kind.ts'
import { namedOperators, type Operator, operatorDefinition } from '../model/query/operators.ts'
import { DEFAULT_PAGE_SIZE, queryable, sortable } from '../model/query/query.ts'
import { checkSearch } from '../model/query/search.ts'
import type { Leaf, Resource, Values } from '../model/resource.ts'
import { isStorable } from '../model/values.ts'
import type { Selection } from './hal.ts'
import { QueryParameters } from './query-parameters.ts'
import { SELECTION_PARAMETERS, selectionParser } from './selection.ts'
import type { ListParameters } from './urls.ts'

/** The query string of a list (SPEC §4.1), as the variables of its operation and as text for links. */
export interface ListQuery {
  readonly page: number
  readonly sort: readonly Values[]
  readonly filter: { readonly and: readonly Values[] } | null
  readonly selection: Selection | undefined
  readonly parameters: ListParameters
}

const PARAMETERS = ['page', 'limit', 'sort', 'filter', 'q', 'id', ...SELECTION_PARAMETERS, 'cursor']

const LISTS = ['sort', 'filter', ...SELECTION_PARAMETERS]

const FILTER = /^(?<name>[^:[\]]*)(?:\[(?<operator>[^:[\]]*)\])?:(?<value>.*)$/s

/**
 * Makes the function that parses the query strings of a resource's lists. All problems are reported in one error.
 *
 * @throws {DomainError} from the function: INVALID_QUERY_PARAMETER (400)
 */
export function listQueryParser(
  resource: Resource,
  maximumPageSize: number,
  resources: readonly Resource[] = [resource],
): (search: URLSearchParams) => ListQuery {
  const leaves = queryable(resource.shownLeaves)
  const select = selectionParser(resource, resources)
  return (search) => new Parser(search, leaves).parse(maximumPageSize, select)
}

/** Parses one query string. Its methods return nothing for what they report as a problem. */
class Parser extends QueryParameters {
  readonly #leaves: readonly Leaf[]

  constructor(search: URLSearchParams, leaves: readonly Leaf[]) {
    super(search)
    this.#leaves = leaves
  }

  parse(maximumPageSize: number, select: ReturnType<typeof selectionParser>): ListQuery {
    const { search } = this
    this.checkNames(
      PARAMETERS,
      LISTS,
      this.#leaves.map(({ name }) => name),
    )
    const page = this.positive('page', 1, INTEGER_RANGE.maximum)
    const limit = this.positive('limit', DEFAULT_PAGE_SIZE, maximumPageSize)
    const sorts = search.getAll('sort').flatMap((part) => part.split(','))
    const sort = sorts.flatMap((part) => this.#sort(part))
    const filters = [...search].flatMap(([name, value]) => this.#filterOf(name, value))
    const id = search.get('id') ?? undefined
    const words = search.get('q') ?? undefined
    const checked = checkSearch(words ?? '')
    if ('problem' in checked) this.report('q', checked.code, `q ${checked.problem}.`)
    const conditions = [
      ...filters.flatMap((filter) => this.#filter(filter)),
      ...(id === undefined ? [] : this.#idFilter(id)),
    ]
    const selection = select(this, limit)
    this.refuseProblems()
    return {
      page,
      sort,
      filter: conditions.length === 0 ? null : { and: conditions },
      selection,
      parameters: {
        limit,
        sort: sorts.length > 0 ? sorts.join() : undefined,
        filters,
        search: words,
        id,
        fields: selection?.fields && search.getAll('fields').join(),
        embed: selection?.embeds && search.getAll('embed').join(),
        cursor: search.get('cursor') ?? undefined,
      },
    }
  }

  #leaf(name: string): Leaf | undefined {
    return this.#leaves.find((leaf) => leaf.name === name)
  }

  #sort(part: string): Values[] {
    const [name = '', direction, ...rest] = part.split(':')
    const leaf = this.#knownLeaf('sort', name, sortable(this.#leaves))
    if ((direction !== 'asc' && direction !== 'desc') || rest.length > 0) {
      const message = 'sort must be field:asc or field:desc; several are joined by commas or repeated.'
      return this.report('sort', 'INVALID_FORMAT', message)
    }
    return leaf ? [toGraphSort(leaf, direction)] : []
  }

  /** A parameter named like a field is a filter for equality (SPEC §2.5.3). */
  #filterOf(name: string, value: string): string[] {
    if (name === 'filter') return [value]
    return !PARAMETERS.includes(name) && this.#leaf(name) ? [`${name}:${value}`] : []
  }

  #filter(filter: string): Values[] {
    const { name, operator: named, value } = FILTER.exec(filter)?.groups ?? {}
    if (name === undefined || value === undefined) {
      const message = 'filter must be field:value or field[operator]:value.'
      return this.report('filter', 'INVALID_FORMAT', message)
    }
    const leaf = this.#knownLeaf('filter', name)
    if (!leaf) return []
    const { operators } = kindOf(leaf.field)
    const nameable = namedOperators(operators)
    const operator = named === undefined ? operators[0] : nameable.get(named)
    if (!operator) {
      const supported = [...nameable.keys()].join(', ')
      const message = `${name} does not support the operator ${named}. Supported: ${supported}.`
      return this.report('filter', 'INVALID_VALUE', message)
    }
    const parsed = parseFilterValue(leaf, operator, value)
    if ('problem' in parsed) return this.report('filter', parsed.code, `filter: ${name} ${parsed.problem}.`)
    return [toGraphFilter(leaf, operator, parsed.value)]
  }

  #idFilter(id: string): Values[] {
    if (!isStorable(id)) return this.report('id', 'INVALID_VALUE', 'id must not contain U+0000.')
    return [toGraphFilter(this.#leaf('id') as Leaf, 'equals', id)]
  }

  #knownLeaf(parameter: string, name: string, leaves = this.#leaves): Leaf | undefined {
    const leaf = leaves.find((candidate) => candidate.name === name)
    if (!leaf) {
      const known = leaves.map((candidate) => candidate.name).join(', ')
      this.report(parameter, 'UNKNOWN_FIELD', `${parameter}: unknown field ${name}. Supported: ${known}.`)
    }
    return leaf
  }
}

/** The operand of a filter, which has the type of its field or of its operator. Several values are joined by `|`. */
function parseFilterValue({ field }: Leaf, operator: Operator, text: string): Checked {
  const { operand } = operatorDefinition(operator)
  if (operand === 'boolean') return booleanKind.fromQuery({ type: 'boolean', description: '' }, text)
  if (operand !== 'values') return kindOf(field).fromQuery(field, text)
  const values = text.split('|').map((part) => kindOf(field).fromQuery(field, part))
  const problem = values.find((checked) => 'problem' in checked)
  return problem ?? { value: values.map((checked) => (checked as { value: unknown }).value) }
}
