import type { Options } from 'csv-stringify'
import { stringify } from 'csv-stringify/sync'
import type { Context } from '../http/context.ts'
import { link } from '../http/headers.ts'
import { kindOf } from '../model/definition/fields.ts'
import type { Leaf } from '../model/definition/resource.ts'
import { DomainError } from '../model/errors.ts'
import type { ListDocument } from './hal.ts'

const WRITERS: Readonly<Record<string, (items: readonly object[], leaves: readonly Leaf[]) => string>> = {
  'text/csv': (items, leaves) => stringify([...items], csvOptions(leaves)),
  'application/x-ndjson': (items) => items.map((item) => `${JSON.stringify(item)}\n`).join(''),
}

/** Media types with one item in each row or line, and no links. */
export const ITEM_TYPES = Object.keys(WRITERS)

const NAVIGATION = ['first', 'prev', 'next', 'last'] as const

/** In characters. Many clients refuse headers of more than 16 KiB. */
const LONGEST_LINKS = 12_000

/**
 * The header Link has the links to other pages (RFC 8288).
 *
 * @throws {DomainError} INVALID_QUERY_PARAMETER (400) when the links are too long for a header
 */
export function respondWithItems(
  ctx: Context,
  type: string,
  { _links: links, _embedded: embedded }: ListDocument,
  leaves: readonly Leaf[],
): void {
  const relations = NAVIGATION.filter((relation) => links[relation])
  const header = relations.map((relation) => link(String(links[relation]?.href), relation)).join(', ')
  if (header.length > LONGEST_LINKS) {
    const message =
      'The query is too long for links in a header. Request application/json, or use fewer filters.'
    throw new DomainError('INVALID_QUERY_PARAMETER', message)
  }
  ctx.append('Link', header)
  ctx.set('Content-Type', type === 'text/csv' ? `${type}; charset=utf-8; header=present` : type)
  ctx.body = WRITERS[type]?.(Object.values(embedded)[0] ?? [], leaves)
}

/** A spreadsheet would execute a cell that begins so, behind any apostrophes (OWASP, CSV Injection). */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/

/** Undoes the apostrophe that protects a text from being a formula. */
export function withoutApostrophe(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
}

/**
 * CSV (RFC 4180) with a column for each leaf. An unset field is an empty cell, an empty string a quoted one. Only texts
 * can be formulas: numbers stay as they are.
 */
export function csvOptions(leaves: readonly Leaf[]): Options {
  const kinds = new Map(leaves.map(({ name, field }) => [name, kindOf(field)]))
  return {
    header: true,
    columns: [...kinds.keys()],
    record_delimiter: 'windows',
    // The library quotes only whole record delimiters.
    quoted_match: /^$|[\r\n]/,
    cast: {
      boolean: String,
      string(value, { column, header }) {
        const kind = header ? undefined : kinds.get(String(column))
        if (kind?.isJson) return JSON.stringify(value)
        return kind?.isText && FORMULA.test(value) ? `'${value}` : value
      },
    },
  }
}
