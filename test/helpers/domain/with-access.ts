import type { AccessRules } from '../../../src/model/access-rules.ts'
import type { Domain } from '../../../src/model/domain.ts'
import type { Resource } from '../../../src/model/resource.ts'
import { domain } from './domain.ts'

/** The domain of the tests, with access rules by the path of the resource. Its tables are the same. */
export function withAccess(rules: Readonly<Record<string, AccessRules>>): Domain {
  const copies = new Map<Resource, Resource>()
  for (const resource of domain.resources) {
    const { path, owner } = resource
    copies.set(resource, {
      ...resource,
      ...(rules[path] && { access: rules[path] }),
      ...(owner && { owner: copies.get(owner) as Resource }),
    })
  }
  return { ...domain, resources: [...copies.values()] }
}
