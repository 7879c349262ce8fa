import type { Domain } from '../../../src/model/definition/domain.ts'
import type { Resource } from '../../../src/model/definition/resource.ts'
import { domain } from './domain.ts'

/** The domain of the tests, with other options of some resources, by path. Its tables are the same. */
export function redefined(options: Readonly<Record<string, Partial<Resource>>>): Domain {
  const copies = new Map<Resource, Resource>()
  for (const resource of domain.resources) {
    const { path, owner } = resource
    const parent = owner && { owner: copies.get(owner) as Resource }
    copies.set(resource, { ...resource, ...options[path], ...parent })
  }
  return { ...domain, resources: [...copies.values()] }
}
