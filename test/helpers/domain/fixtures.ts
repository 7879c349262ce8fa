import type { Leaf, Resource } from '../../../src/model/definition/resource.ts'
import type { Answer, Client, Json } from '../service/client.ts'
import { fixtureOverrides, resources } from './domain.ts'
import { sampleValue } from './sample-value.ts'

/** A resource body as a client sends it. */
export type Body = Record<string, Json>

/** A resource that a test has made. */
export interface Created {
  readonly id: string
  readonly parentId: string | undefined
  /** Its address below the entry document. */
  readonly path: string
  /** That of its collection; a singleton's is its own. */
  readonly collection: string
  readonly body: Body
  readonly answer: Answer
}

let made = 0

/**
 * Makes valid resources of any definition through the service itself: parents and the resources that are
 * referred to come first. Every body differs from all before it in every field that can.
 */
export class Fixtures {
  constructor(readonly client: Client) {}

  /** A body with every field that a caller may set. */
  body(resource: Resource): Promise<Body> {
    return this.#bodyOf(resource, resource.writable)
  }

  /** A body with the required fields only. */
  minimalBody(resource: Resource): Promise<Body> {
    return this.#bodyOf(
      resource,
      resource.writable.filter(({ field }) => field.required),
    )
  }

  /** A new parent for a resource of a kind that has one. */
  async parent({ owner }: Resource): Promise<string | undefined> {
    return owner && (await this.create(owner)).id
  }

  /** Creates a resource; without a parent to put it under, under a new one. */
  async create(resource: Resource, options: { body?: Body; parentId?: string } = {}): Promise<Created> {
    const parentId = options.parentId ?? (await this.parent(resource))
    const body = options.body ?? (await this.body(resource))
    const collection = collectionPath(resource, parentId)
    const { listed } = resource
    const answer = listed ? await this.client.post(collection, body) : await this.client.put(collection, body)
    if (answer.status !== 201) throw new Error(`${collection} was not created: ${answer.text}`)
    const id = answer.body.id as string
    return { id, parentId, path: resourcePath(resource, parentId, id), collection, body, answer }
  }

  async #bodyOf(resource: Resource, leaves: readonly Leaf[]): Promise<Body> {
    made += 1
    const number = made
    const body: Body = {}
    for (const [index, leaf] of leaves.entries()) {
      const value = await this.#value(resource, leaf, number, index)
      const [outer, inner] = leaf.path as [string, string?]
      if (inner === undefined) body[outer] = value
      else body[outer] = { ...body[outer], [inner]: value }
    }
    const overrides = Object.entries(fixtureOverrides[resource.path] ?? {})
    return { ...body, ...Object.fromEntries(overrides.filter(([name]) => name in body)) }
  }

  async #value(resource: Resource, { field, name }: Leaf, number: number, index: number): Promise<Json> {
    if (field.type !== 'reference') return sampleValue(field, name, number, index)
    const target = resourceAt(field.to)
    // A resource that refers to its own collection would need another without end.
    const body = target.path === resource.path ? await this.minimalBody(target) : await this.body(target)
    return (await this.create(target, { body })).id
  }
}

/** The definition with this path. */
export function resourceAt(path: string): Resource {
  const resource = resources.find((candidate) => candidate.path === path)
  if (!resource) throw new Error(`There is no resource at ${path}.`)
  return resource
}

/** The address of a resource's collection below the entry document; a singleton's is its own. */
export function collectionPath({ owner, path }: Resource, parentId: string | undefined): string {
  return owner ? `/${owner.path}/${parentId}/${path}` : `/${path}`
}

/** The address of one resource below the entry document. */
export function resourcePath(resource: Resource, parentId: string | undefined, id: string): string {
  const collection = collectionPath(resource, parentId)
  return resource.listed ? `${collection}/${id}` : collection
}

/** The part of a document that its caller has set. */
export function writtenPart(resource: Resource, document: Body): Body {
  const names = new Set(resource.writable.map(({ path }) => path[0]))
  return Object.fromEntries(Object.entries(document).filter(([name]) => names.has(name)))
}

/** A body with one value set, or taken out, at the place of a leaf. The body itself stays as it was. */
export function withValue(body: Body, { path }: Leaf, value: Json): Body {
  const [outer, inner] = path as [string, string?]
  if (inner === undefined) return { ...body, [outer]: value }
  return { ...body, [outer]: { ...body[outer], [inner]: value } }
}

/** The value in a document at the place of a leaf, undefined where it is not set. */
export function valueIn(document: Body, { path }: Leaf): Json {
  return path.reduce<Json>((inner, name) => inner?.[name], document)
}
