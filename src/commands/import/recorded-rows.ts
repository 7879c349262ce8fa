import { brokenRules } from '../../domain/rules.ts'
import { OPERATOR } from '../../model/access/caller.ts'
import { fixedInitial, isRequired, kindOf } from '../../model/definition/fields.ts'
import type { Leaf, Resource } from '../../model/definition/resource.ts'
import { type Detail, refuseInvalid } from '../../model/errors.ts'
import { text } from '../../model/kinds/text.ts'
import { toValues, valueAt } from '../../model/rows/columns.ts'
import type { Columns } from '../../model/rows/row.ts'
import { inspectBody } from '../../model/validate.ts'

/** Who has changed a row last, in a file. */
const AUTHOR = 'changed_by'

const authorField = text('Who has changed it last.', { readOnly: true, maximumLength: 1_000 })

const author: Leaf = { name: AUTHOR, path: [AUTHOR], column: AUTHOR, label: 'Changed by', field: authorField }

/** A resource whose rows can have all fields, and an author. */
export function recordedView(resource: Resource): Resource {
  const leaves = [...resource.leaves, author]
  const allFields = { ...resource.allFields, [AUTHOR]: authorField }
  return { ...resource, allFields, shownFields: allFields, leaves, shownLeaves: leaves }
}

/**
 * The columns of a row as it was recorded, without its key. A time that is missing is the other one, or now.
 *
 * @param view of {@link recordedView}
 * @throws {DomainError} VALIDATION_FAILED (400) for values that its fields cannot have
 */
export function recordedColumns(view: Resource, body: unknown): Columns {
  const { values, readOnly, details } = inspectBody(view, body, false)
  const problems: Detail[] = [...details]
  const columns: Record<string, unknown> = {}
  for (const leaf of view.leaves) {
    const { name, column, field } = leaf
    if (name === 'id' || name === view.parentField || field.computed !== undefined) continue
    const sent = valueAt(readOnly, leaf)
    const checked = sent === undefined ? { value: valueAt(values, leaf) } : kindOf(field).check(field, sent)
    if ('problem' in checked)
      problems.push({ field: name, code: checked.code, message: `${name} ${checked.problem}.` })
    else columns[column] = checked.value ?? fixedInitial(field) ?? null
  }
  const { createdField } = view
  columns[createdField] ??= columns['last_updated'] ?? new Date()
  columns['last_updated'] ??= columns[createdField]
  columns[AUTHOR] ??= OPERATOR.identity
  const missing = view.leaves.filter(
    ({ column, field }) =>
      columns[column] === null && field.required && (isRequired(field) || field.readOnly),
  )
  for (const { name } of missing)
    if (!problems.some(({ field }) => field === name))
      problems.push({ field: name, code: 'REQUIRED_FIELD', message: `${name} is required.` })
  refuseInvalid(problems)
  return columns
}

/** The rules of writes that a row would break, without those that read other rows. */
export function rulesBrokenBy(resource: Resource, columns: Columns): readonly Detail[] {
  const values = toValues(resource, columns)
  const checks = (resource.checks ?? []).flatMap((check) => check(values, undefined))
  return [...checks, ...brokenRules(resource, values, undefined)]
}
