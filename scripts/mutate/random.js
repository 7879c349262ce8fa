// @ts-check

/**
 * A reproducible source of numbers from 0 to 1 (mulberry32).
 *
 * @param {number} seed
 */
export function createRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * @template Item
 * @param {Item[]} items
 * @param {() => number} random
 */
export function shuffle(items, random) {
  const shuffled = [...items]
  for (let index = shuffled.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    const item = /** @type {Item} */ (shuffled[index])
    shuffled[index] = /** @type {Item} */ (shuffled[other])
    shuffled[other] = item
  }
  return shuffled
}
