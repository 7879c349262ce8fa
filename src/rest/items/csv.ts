import type { Options } from 'csv-stringify'
import { kindOf } from '../../model/fields.ts'
import type { Leaf } from '../../model/resource.ts'

/** A spreadsheet would execute a cell that begins so, behind any apostrophes (OWASP, CSV Injection). */
const FORMULA = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/

/** Undoes the apostrophe that protects a text from being a formula. */
export function withoutApostrophe(cell: string): string {
  return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell
}

/**
 * How values in JSON are written as CSV (RFC 4180), with a column for each leaf. An unset field is an empty cell, an
 * empty string a quoted one. Only texts can be formulas: numbers stay as they are.
 */
export function csvOptions(leaves: readonly Leaf[]): Options {
  const namesOf = (has: 'isJson' | 'isText') =>
    new Set(leaves.filter(({ field }) => kindOf(field)[has]).map(({ name }) => name))
  const [json, texts] = [namesOf('isJson'), namesOf('isText')]
  return {
    header: true,
    columns: leaves.map(({ name }) => name),
    record_delimiter: 'windows',
    // The library quotes only whole record delimiters.
    quoted_match: /^$|[\r\n]/,
    cast: {
      boolean: String,
      string(value, { column, header }) {
        if (header) return value
        if (json.has(String(column))) return JSON.stringify(value)
        return texts.has(String(column)) && FORMULA.test(value) ? `'${value}` : value
      },
    },
  }
}
