/** If the ratio of greatest to least value is larger, ranges grow by a factor instead of an amount. */
const WIDE = 1000

/** @param {number} value */
export function numberText(value) {
  // No separators for years, but for larger numbers.
  const notation = value !== 0 && Math.abs(Math.log10(Math.abs(value))) >= 15 ? 'scientific' : 'standard'
  return value.toLocaleString(undefined, { maximumSignificantDigits: 4, useGrouping: 'min2', notation })
}

/**
 * Ranges of a number, of which only the last includes its end: their filters, as variables of an operation, and their
 * labels. For an integer with few values, each value is a range.
 *
 * @param {{ path: string[], isInteger: boolean, scale?: number }} number
 * @param {number} least
 * @param {number} greatest
 * @param {number} count
 */
export function rangesOf({ path, isInteger, scale }, least, greatest, count) {
  const operand = (/** @type {number} */ value) => (scale === undefined ? value : value.toFixed(scale))
  const bounds = boundsOf(isInteger, least, greatest, count)
  const ranges = bounds.slice(0, -1).map((from, index) => {
    const to = /** @type {number} */ (bounds[index + 1])
    const isLast = index === bounds.length - 2
    const condition = isLast
      ? { gte: operand(from), lte: operand(to) }
      : { gte: operand(from), lt: operand(to) }
    const filter = path.reduceRight((/** @type {any} */ inner, name) => ({ [name]: inner }), condition)
    return { filter, label: rangeText(isInteger, from, to, isLast) }
  })
  // The operation has a fixed number of ranges. Filters of unused ranges match nothing.
  const nothing = path.reduceRight((/** @type {any} */ inner, name) => ({ [name]: inner }), {
    gt: operand(greatest),
  })
  const variables = Array.from({ length: count }, (_, index) => [
    `range${index}`,
    ranges[index]?.filter ?? nothing,
  ])
  return { labels: ranges.map(({ label }) => label), variables: Object.fromEntries(variables) }
}

/** @param {boolean} isInteger @param {number} least @param {number} greatest @param {number} count */
function boundsOf(isInteger, least, greatest, count) {
  if (least === greatest) return [least, greatest]
  if (isInteger) {
    const width = Math.ceil((greatest - least + 1) / count)
    const used = Math.ceil((greatest - least + 1) / width)
    return [...Array.from({ length: used }, (_, index) => least + index * width), greatest]
  }
  const isWide = least > 0 && greatest / least >= WIDE
  const at = (/** @type {number} */ part) =>
    isWide ? least ** (1 - part) * greatest ** part : least * (1 - part) + greatest * part
  return [...Array.from({ length: count }, (_, index) => at(index / count)), greatest]
}

/** @param {boolean} isInteger @param {number} from @param {number} to @param {boolean} isLast */
function rangeText(isInteger, from, to, isLast) {
  const end = isInteger && !isLast ? to - 1 : to
  return from === end ? numberText(from) : `${numberText(from)} – ${numberText(end)}`
}
