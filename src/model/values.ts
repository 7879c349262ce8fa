export function isObject(value: unknown): value is { readonly [member: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** Whether PostgreSQL can store a text: it accepts neither U+0000 nor lone surrogates. */
export function isStorable(value: string): boolean {
  return !value.includes('\0') && value.isWellFormed()
}

/**
 * Not a character that shows nothing: white space, characters that fonts ignore, control characters, the empty braille pattern,
 * interlinear annotations, controls of Egyptian hieroglyphs, a filler, and a note without a head. `is_blank` and `folded` in
 * the database have the same ones.
 */
const SHOWN =
  /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800\ufff9-\ufffb\u{13430}-\u{1343f}\u{16fe4}\u{1d159}]/u

/** Whether a text has no character that shows anything. */
export function isBlank(text: string): boolean {
  return !SHOWN.test(text)
}

/**
 * The number that a text writes, or infinity if double precision does not keep it: a number that is too large or too small,
 * or that has digits which a double rounds away. A number may have more digits than its shortest form, if they are
 * those of the double: `0.10000000000000001`.
 *
 * @param text an optional sign, digits, and a point or an exponent
 */
export function exactNumber(text: string): number {
  const number = Number(text)
  if (String(number) === text) return number
  const digits = significantDigits(text)
  const isKept =
    digits.length <= MAXIMUM_DIGITS && digits === significantDigits(number.toPrecision(digits.length || 1))
  return isKept ? number : Number.POSITIVE_INFINITY
}

/** The limit of `toPrecision`. */
const MAXIMUM_DIGITS = 100

/** Without zeros at both ends. */
function significantDigits(text: string): string {
  const [mantissa = ''] = text.split(/[eE]/, 1)
  return mantissa
    .replace(/^[-+]?[0.]*/, '')
    .replace('.', '')
    .replace(/(?<!0)0+$/, '')
}

/** An object with the same members, whose values are changed. */
export function mapped<From, To>(
  members: Readonly<Record<string, From>>,
  change: (value: From, name: string) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, change(value, name)]))
}
