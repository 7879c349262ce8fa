import { booleanKind } from './boolean.ts'
import { dateKind } from './date.ts'
import { decimalKind } from './decimal.ts'
import { enumerationKind } from './enumeration.ts'
import { fractionsKind } from './fractions.ts'
import { integerKind } from './integer.ts'
import { jsonKind } from './json.ts'
import type { FieldOf, Kind } from './kind.ts'
import { listKind } from './list.ts'
import { numberKind } from './number.ts'
import { referenceKind } from './reference.ts'
import { textKind } from './text.ts'
import { timestampKind } from './timestamp.ts'

const LIST = [
  textKind,
  referenceKind,
  numberKind,
  integerKind,
  decimalKind,
  booleanKind,
  timestampKind,
  dateKind,
  enumerationKind,
  fractionsKind,
  jsonKind,
  listKind,
] as const

/** A field that holds one value, in one column. */
export type LeafField = (typeof LIST)[number] extends infer Each
  ? Each extends Kind<infer Field>
    ? Field
    : never
  : never

export const KINDS = LIST as unknown as readonly Kind<FieldOf<LeafField['type']>>[]

const BY_TYPE = Object.fromEntries(KINDS.map((kind) => [kind.type, kind]))

export function kindOf(field: LeafField): Kind<LeafField> {
  return BY_TYPE[field.type] as Kind<LeafField>
}
