/** If the ratio of greatest to least value is larger, ranges grow by a factor instead of an amount. */
const WIDE = 1000

/** @param {number} value */
export function numberText(value) {
  // No separators for years, but for larger numbers.
  const notation = value !== 0 && Math.abs(Math.log10(Math.abs(value))) >= 15 ? 'scientific' : 'standard'
  return value.toLocaleString(undefined, { maximumSignificantDigits: 4, useGrouping: 'min2', notation })
}

/**
 * The bounds of a histogram's ranges, of which only the last includes its end, and their labels. For an integer with few
 * values, each value is a range.
 *
 * @param {boolean} isInteger
 * @param {number} least
 * @param {number} greatest
 * @param {number} count
 */
export function rangesOf(isInteger, least, greatest, count) {
  const bounds = boundsOf(isInteger, least, greatest, count)
  const labels = bounds.slice(0, -1).map((from, index) => {
    const to = /** @type {number} */ (bounds[index + 1])
    return rangeText(isInteger, from, to, index === bounds.length - 2)
  })
  return { bounds, labels }
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
