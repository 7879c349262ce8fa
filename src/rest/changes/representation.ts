import type { Resource, Values } from '../../model/resource.ts'
import { picker } from '../hal.ts'
import type { Urls } from '../urls.ts'

/** A change as the operation returns it. */
export interface Change extends Values {
  readonly cursor: string
  readonly collection: string
  readonly id: string
  readonly parent_id: string | null
  readonly event: string
  readonly resource: Values | null
}

export type RepresentChange = (change: Change, urls: Urls) => Values

/** Makes the function that represents a change: the resource has the fields of this version of the API. */
export function changeRepresenter(resources: readonly Resource[]): RepresentChange {
  const known = new Map(
    resources.map((resource) => [resource.path, { resource, membersOf: picker(resource.shownFields) }]),
  )
  return ({ cursor, resource: values, event, parent_id: parentId, ...change }, urls) => {
    const { resource, membersOf } = known.get(change.collection) as NonNullable<ReturnType<typeof known.get>>
    const key = { parentId: parentId ?? undefined, id: change.id }
    return {
      ...change,
      parent_id: parentId ?? undefined,
      event: event.toLowerCase(),
      resource: values ? membersOf(values) : undefined,
      _links: { resource: { href: urls.resource(resource, key) } },
    }
  }
}
