import { type Detail, type DetailCode, DomainError, errorAt } from '../model/errors.ts'
import { DEFAULT_PAGE_SIZE } from '../model/query/query.ts'

/** A filter has at most 100 conditions, and each may be a parameter. */
const MAXIMUM_PARAMETERS = 150

/** Names in messages are cut. */
export const SHOWN_CHARACTERS = 100

/** The names that many clients give to parameters with several values. */
const BRACKETED = /^(sort|filter|fields|embed)\[\]$/

export class QueryParameters {
  readonly problems: Detail[] = []
  readonly search = new URLSearchParams()

  constructor(sent: URLSearchParams) {
    for (const [name, value] of sent) this.search.append(name.replace(BRACKETED, '$1'), value)
  }

  /** @throws {DomainError} INVALID_QUERY_PARAMETER (400) if there are any parameters */
  static refuse(search: URLSearchParams): void {
    const parameters = new QueryParameters(search)
    parameters.checkNames([])
    parameters.refuseProblems()
  }

  /** Returns an empty list, for callers that return what they have parsed. */
  report(field: string, code: DetailCode, message: string): [] {
    this.problems.push({ field: field.slice(0, SHOWN_CHARACTERS), code, message })
    return []
  }

  /**
   * Reports unknown parameters, and repeated ones that are not lists.
   *
   * @param fields names that are short for filters, which may be repeated
   * @throws {DomainError} INVALID_QUERY_PARAMETER (400) for too many parameters
   */
  checkNames(known: readonly string[], lists: readonly string[] = [], fields: readonly string[] = []): void {
    const names = [...this.search.keys()]
    if (names.length > MAXIMUM_PARAMETERS) {
      const message = `A request must not have more than ${MAXIMUM_PARAMETERS} query parameters.`
      throw errorAt('', 'LIMIT_EXCEEDED', 'INVALID_QUERY_PARAMETER', message)
    }
    const supported = [...new Set([...known, ...fields])].join(', ')
    for (const name of new Set(names)) {
      const isKnown = known.includes(name)
      if (isKnown && !lists.includes(name) && this.search.getAll(name).length > 1)
        this.report(name, 'REPEATED_PARAMETER', `${name} may be given only once.`)
      if (isKnown || fields.includes(name)) continue
      const hint = supported && ` Supported: ${supported}.`
      const shown = name.slice(0, SHOWN_CHARACTERS)
      this.report(name, 'UNKNOWN_PARAMETER', `Unknown query parameter ${shown}.${hint}`)
    }
  }

  /** A whole number from 1. */
  positive(name: string, otherwise: number, maximum: number): number {
    const text = this.search.get(name)
    if (text === null) return otherwise
    const number = /^[1-9][0-9]*$/.test(text) ? Number(text) : 0
    if (number < 1 || number > maximum) {
      const message = `${name} must be a whole number from 1 to ${maximum}, written in digits.`
      this.report(name, 'OUT_OF_RANGE', message)
    }
    return number
  }

  limit(maximum: number): number {
    return this.positive('limit', Math.min(DEFAULT_PAGE_SIZE, maximum), maximum)
  }

  /** @throws {DomainError} INVALID_QUERY_PARAMETER (400) with all problems */
  refuseProblems(): void {
    const [first] = this.problems
    if (first) throw new DomainError('INVALID_QUERY_PARAMETER', first.message, this.problems)
  }
}
