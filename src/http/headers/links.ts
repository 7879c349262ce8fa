/** The relations of the links in headers, and what each leads to (RFC 5829, RFC 8288, RFC 8631, RFC 9727). */
export const LINK_RELATIONS = {
  describedby: 'the profile of a collection',
  'service-desc': 'the OpenAPI document',
  'service-doc': 'the reference',
  'api-catalog': 'the list of interfaces',
  help: 'the explanation of an error',
  related: 'the resource that a conflict is with',
  changes: 'the feed of a collection',
  'version-history': 'the versions of a resource',
  'successor-version': 'the same resource in the next version of the API',
  first: 'the first page of a list in CSV or NDJSON',
  prev: 'the page before',
  next: 'the page after',
  last: 'the last page',
}

export type LinkRelation = keyof typeof LINK_RELATIONS

/** The relations of the links in HAL, besides those to related resources, and what each leads to (SPEC §2.2, §2.3). */
export const HAL_RELATIONS = {
  self: 'the resource, or the page of the list',
  collection: 'the list that the resource belongs to',
  parent: 'the owner of the resource or the list',
  edit: 'the resource, if PUT and PATCH may change it',
  delete: 'the resource, for DELETE',
  first: 'the first page',
  last: 'the last page',
  next: 'the page after',
  prev: 'the page before',
  find: 'one item by its identifier',
}

export type HalRelation = keyof typeof HAL_RELATIONS

/** A value of the header Link (RFC 8288 §3). */
export function link(target: string, relation: LinkRelation): string {
  return `<${target}>; rel="${relation}"`
}
