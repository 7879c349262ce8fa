/** If the ratio of greatest to least value is larger, ranges grow by a factor instead of an amount. */
const WIDE = 1000

/** @param {number} value @param {number} [digits] */
export function numberText(value, digits = 15) {
  // No separators for years, but for larger numbers.
  const notation = value !== 0 && Math.abs(Math.log10(Math.abs(value))) >= 15 ? 'scientific' : 'standard'
  return value.toLocaleString(undefined, { maximumSignificantDigits: digits, useGrouping: 'min2', notation })
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
  const isWide = !isInteger && least > 0 && greatest / least >= WIDE
  const bounds = isWide ? multiplied(least, greatest, count) : added(isInteger, least, greatest, count)
  // The last range includes its end.
  if (isInteger) bounds.push(/** @type {number} */ (bounds.pop()) - 1)
  return bounds.map((bound) => Math.max(-Number.MAX_VALUE, Math.min(bound, Number.MAX_VALUE)))
}

/**
 * Multiples of 1, 2 or 5 times a power of ten, from the least to the greatest value.
 *
 * @param {boolean} isInteger @param {number} least @param {number} greatest @param {number} count
 */
function added(isInteger, least, greatest, count) {
  const exponent = Math.floor(Math.log10(greatest / count - least / count))
  for (let power = Math.max(exponent, isInteger ? 0 : -323); ; power++)
    for (const digit of [1, 2, 5]) {
      const at = (/** @type {number} */ index) => Number(`${digit * index}e${power}`)
      // A quotient may be rounded.
      const indexOf = (/** @type {number} */ value, /** @type {(quotient: number) => number} */ round) => {
        const nearest = Math.round(value / at(1))
        return at(nearest) === value ? nearest : round(value / at(1))
      }
      const first = indexOf(least, Math.floor)
      const last = isInteger ? indexOf(greatest, Math.floor) + 1 : indexOf(greatest, Math.ceil)
      const isWhole = at(first) <= least && at(last) >= greatest
      if (isWhole && last - first <= count)
        return Array.from({ length: last - first + 1 }, (_, index) => at(first + index))
    }
}

/**
 * Powers of ten, or of a power of ten, from the least to the greatest value.
 *
 * @param {number} least @param {number} greatest @param {number} count
 */
function multiplied(least, greatest, count) {
  const [first, last] = [Math.floor(Math.log10(least)), Math.ceil(Math.log10(greatest))]
  const step = Math.ceil((last - first) / count)
  const length = Math.ceil((last - first) / step) + 1
  return Array.from({ length }, (_, index) => Number(`1e${first + index * step}`))
}

/** @param {boolean} isInteger @param {number} from @param {number} to @param {boolean} isLast */
function rangeText(isInteger, from, to, isLast) {
  const end = isInteger && !isLast ? to - 1 : to
  return from === end ? numberText(from) : `${numberText(from)} – ${numberText(end)}`
}
