import type { ExecutionContext } from 'ava'
import type { Client, Json } from './client.ts'

/** The links of one resource of a collection. */
export interface Relations {
  readonly always: readonly string[]
  readonly whereSet?: readonly string[]
  /** One per parent: its links are there whether it is set or not. */
  readonly singleton?: true
}

const LIST_RELATIONS = ['self', 'first', 'last', 'next', 'prev', 'find']

/** The links of a document and of what is embedded in it, as addresses to follow. */
function addressesIn(document: Json): string[] {
  const links = Object.values(document._links).filter((link) => link !== null) as Json[]
  const own = links.map(({ href, templated }) => (templated ? href.replace('{?id}', '?id=nothing') : href))
  return [
    ...own,
    ...Object.values(document._embedded ?? {}).flatMap((items) => (items as Json[]).flatMap(addressesIn)),
  ]
}

/**
 * Follows every link from the entry document on, and compares those of each response with these, by path.
 *
 * @returns the kinds of responses that it came to
 */
export async function crawl(
  t: ExecutionContext,
  base: string,
  reader: Client,
  relationsOf: Readonly<Record<string, Relations>>,
): Promise<ReadonlySet<string>> {
  const seen = new Set<string>([base])
  const kinds = new Set<string>()
  for (const address of seen) {
    const { status, body } = await reader.get(address)
    const path = new URL(address).pathname.slice(new URL(base).pathname.length + 1).split('/')
    const isSingleton = relationsOf[path.at(-1) as string]?.singleton === true
    if (status === 404 && isSingleton) continue
    t.is(status, 200, address)
    for (const next of addressesIn(body)) seen.add(next)
    if (address === base) continue
    const isList = body._embedded !== undefined
    const collection = (isList || isSingleton ? path.at(-1) : path.at(-2)) as string
    kinds.add(`${isList ? 'list of' : 'one of'} ${isList && path.length > 1 ? path[0] : ''} ${collection}`)
    const relations = Object.keys(body._links)
    if (isList) {
      t.deepEqual(relations, [...LIST_RELATIONS, ...(path.length > 1 ? ['parent'] : [])], address)
      for (const item of body._embedded[collection]) t.deepEqual(Object.keys(item._links), ['self'])
    } else {
      const { always, whereSet = [] } = relationsOf[collection] as Relations
      const set = relations.filter((name) => whereSet.includes(name))
      t.deepEqual([...always, ...set].sort(), relations.sort(), address)
    }
  }
  return kinds
}
