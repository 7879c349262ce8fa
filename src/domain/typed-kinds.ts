import { boolean as makeBoolean } from '../model/kinds/boolean.ts'
import { date as makeDate } from '../model/kinds/date.ts'
import { type DecimalField, decimal as makeDecimal } from '../model/kinds/decimal.ts'
import { type EnumerationField, enumeration as makeEnumeration } from '../model/kinds/enumeration.ts'
import { fractions as makeFractions } from '../model/kinds/fractions.ts'
import { integer as makeInteger } from '../model/kinds/integer.ts'
import { json as makeJson } from '../model/kinds/json.ts'
import { type ListField, list as makeList } from '../model/kinds/list.ts'
import { number as makeNumber } from '../model/kinds/number.ts'
import { reference as makeReference, type ReferenceField } from '../model/kinds/reference.ts'
import { text as makeText } from '../model/kinds/text.ts'
import { timestamp as makeTimestamp } from '../model/kinds/timestamp.ts'

/*
 * The functions of the kinds, with types for definitions: what they make also says whether it is required, which values
 * it has and which items, so that the types of rows and representations follow (`typed.ts`).
 */

type Required = true | undefined

type Options<
  Make extends (...parameters: never[]) => unknown,
  Place extends number,
  IsRequired,
> = NonNullable<Parameters<Make>[Place]> & { readonly required?: IsRequired }

type Made<Field, IsRequired> = Field & (IsRequired extends true ? { readonly required: true } : unknown)

type Typed<Make extends (description: string, options?: never) => unknown> = <
  IsRequired extends Required = undefined,
>(
  description: string,
  options?: Options<Make, 1, IsRequired>,
) => Made<ReturnType<Make>, IsRequired>

export const boolean = makeBoolean as Typed<typeof makeBoolean>
export const date = makeDate as Typed<typeof makeDate>
export const fractions = makeFractions as Typed<typeof makeFractions>
export const integer = makeInteger as Typed<typeof makeInteger>
export const json = makeJson as Typed<typeof makeJson>
export const number = makeNumber as Typed<typeof makeNumber>
export const text = makeText as Typed<typeof makeText>
export const timestamp = makeTimestamp as Typed<typeof makeTimestamp>

export const decimal = makeDecimal as <IsRequired extends Required = undefined>(
  precision: number,
  scale: number,
  description: string,
  options?: Options<typeof makeDecimal, 3, IsRequired>,
) => Made<DecimalField, IsRequired>

export const reference = makeReference as <IsRequired extends Required = undefined>(
  to: string,
  relation: string,
  description: string,
  options?: Options<typeof makeReference, 3, IsRequired>,
) => Made<ReferenceField, IsRequired>

export const enumeration = makeEnumeration as <
  const Value extends string,
  IsRequired extends Required = undefined,
>(
  values: readonly Value[],
  description: string,
  options?: Options<typeof makeEnumeration, 2, IsRequired>,
) => Made<EnumerationField & { readonly values: readonly Value[] }, IsRequired>

export const list = makeList as <Item extends ListField['item'], IsRequired extends Required = undefined>(
  item: Item,
  description: string,
  options?: Options<typeof makeList, 2, IsRequired>,
) => Made<ListField & { readonly item: Item }, IsRequired>
