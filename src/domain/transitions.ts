import type { Detail } from '../model/errors.ts'
import { kindOf } from '../model/fields.ts'
import { capitalized, noun, withArticle } from '../model/labels.ts'
import type { Resource, Values } from '../model/resource.ts'
import { valueAt } from '../model/rows.ts'

/**
 * The changes of fields that their declared transitions do not have.
 *
 * @param before the previous state, undefined for a new resource
 */
export function brokenTransitions(resource: Resource, values: Values, before: Values | undefined): Detail[] {
  return resource.writable.flatMap((leaf): Detail[] => {
    const { name, field } = leaf
    const [from, to] = [before && valueAt(before, leaf), valueAt(values, leaf)]
    const allowed = kindOf(field).choicesAfter?.(field, from)
    if (!allowed || to === undefined || allowed.includes(to)) return []
    const others = allowed.filter((value) => value !== from)
    const advice = others.length > 0 ? `, only ${others.join(' or ')}` : ''
    const subject = capitalized(withArticle(`${from ?? 'new'} ${noun(resource)}`))
    const message = `${subject} cannot become ${to}${advice}.`
    return [{ field: name, code: 'INVALID_STATUS_TRANSITION', message }]
  })
}
