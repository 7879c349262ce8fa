import * as definition from '../../../src/domain/definition.ts'
import type { LeafField } from '../../../src/model/definition/fields.ts'

/** The field that a call makes, as domains write it: `text('Name.')`. */
export function madeField(code: string): LeafField {
  return new Function(...Object.keys(definition), `return ${code}`)(...Object.values(definition))
}
