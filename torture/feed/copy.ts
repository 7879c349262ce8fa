import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { send } from '../../test/helpers/load/load.ts'
import type { NextOrigin } from './consumers.ts'

// biome-ignore lint/suspicious/noExplicitAny: as parsed
type Json = any

/** By collection, parent and identifier. */
type Catalogue = Map<string, Json>

interface Part {
  readonly links: Record<string, { href: string } | null>
  readonly items: readonly Json[]
  readonly hasMore: boolean
  /** The feed from a position before this page. */
  readonly changes: string | undefined
}

const inService = (href: string) => new URL(href).pathname + new URL(href).search

/** Reads one page of a list or of the feed; undefined for the list of a parent that is gone. */
async function readPart(origin: NextOrigin, path: string): Promise<Part | undefined> {
  for (;;) {
    const outcome = await send(origin(), { method: 'GET', path })
    if (outcome.kind === 'answered' && outcome.status === 200) {
      const { _links: links, _embedded, has_more: hasMore } = JSON.parse(outcome.body)
      const [items] = Object.values(_embedded) as [Json[]]
      const changes = /<([^>]*)>; rel="changes"/.exec(String(outcome.headers['link']))?.[1]
      return { links, items, hasMore, changes: changes && inService(changes) }
    }
    if (outcome.kind === 'answered' && (outcome.status === 404 || outcome.status === 410)) return undefined
    if (outcome.kind === 'answered' && outcome.status !== 503)
      throw new Error(`${path}: ${outcome.status} ${outcome.body}`)
    await delay(50)
  }
}

/** Adds the pages of a list to a catalogue; resolves to the feed of its collection, from before the list. */
async function addList(
  origin: NextOrigin,
  list: string,
  path: string,
  catalogue: Catalogue,
): Promise<string | undefined> {
  let changes: string | undefined
  for (let next: string | undefined = `/api/v1${path}?limit=100`; next; ) {
    const part = await readPart(origin, next)
    for (const { _links, ...fields } of part?.items ?? []) catalogue.set(`${list}/${fields.id}`, fields)
    changes ??= part?.changes
    next = part?.links['next'] ? inService(part.links['next'].href) : undefined
  }
  return changes
}

/** Reads all lists; the feeds are those of the first list of each collection. */
async function readLists(origin: NextOrigin) {
  const catalogue: Catalogue = new Map()
  const feeds = [
    await addList(origin, 'planets/', '/planets', catalogue),
    await addList(origin, 'species/', '/species', catalogue),
  ]
  const planets = [...catalogue.keys()].filter((key) => key.startsWith('planets/'))
  let moons: string | undefined
  for (const id of planets.map((key) => key.split('/').at(-1))) {
    const feed = await addList(origin, `moons/${id}`, `/planets/${id}/moons`, catalogue)
    moons ??= feed
  }
  return { catalogue, feeds: [...feeds, moons] }
}

/** A copy of the catalogue: lists that are read while others write, and then the changes. */
export class Copy {
  #feeds: (string | undefined)[] = []
  #catalogue: Catalogue = new Map()
  #begun = 0

  constructor(readonly origin: NextOrigin) {}

  async begin(): Promise<void> {
    const { catalogue, feeds } = await readLists(this.origin)
    this.#catalogue = catalogue
    this.#feeds = feeds
    this.#begun = catalogue.size
    if (feeds.includes(undefined)) throw new Error('A list has no link to its changes.')
  }

  /** Applies the changes up to the end of the feed. */
  async apply(): Promise<void> {
    for (const [index, feed] of this.#feeds.entries()) {
      for (let hasMore = true, next = feed as string; hasMore; this.#feeds[index] = next) {
        const part = (await readPart(this.origin, next)) as Part
        for (const { collection, parent_id: parent = '', id, resource } of part.items) {
          if (resource) this.#catalogue.set(`${collection}/${parent}/${id}`, resource)
          else this.#catalogue.delete(`${collection}/${parent}/${id}`)
        }
        next = inService((part.links['next'] as { href: string }).href)
        hasMore = part.hasMore
      }
    }
  }

  /** Compares it with the original, which nothing changes any more. */
  async compare(): Promise<string[]> {
    const { catalogue: original } = await readLists(this.origin)
    const keys = new Set([...original.keys(), ...this.#catalogue.keys()])
    const different = [...keys].filter(
      (key) => !isDeepStrictEqual(original.get(key), this.#catalogue.get(key)),
    )
    console.log(
      `copy: begun with ${this.#begun} resources, ${original.size} at the end, ${different.length} different`,
    )
    return different.map(
      (key) =>
        `copy: ${key} is ${JSON.stringify(this.#catalogue.get(key))}, ${JSON.stringify(original.get(key))} in the original`,
    )
  }
}
