/**
 * Works on items several at a time and hands the results on in the order of the items, so that "done up
 * to here" is always true. At most `width` items are under way or waiting for their turn.
 *
 * @throws what `work` throws, once the items before it are handed on
 */
export async function* inOrder<Item, Result>(
  items: AsyncIterable<Item>,
  width: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const underway: Promise<Result>[] = []
  try {
    for await (const item of items) {
      const result = work(item)
      // Its turn to be awaited comes later; until then a failure is not an unhandled one.
      result.catch(() => {})
      underway.push(result)
      if (underway.length >= width) yield await (underway.shift() as Promise<Result>)
    }
    while (underway.length > 0) yield await (underway.shift() as Promise<Result>)
  } finally {
    await Promise.allSettled(underway)
  }
}
