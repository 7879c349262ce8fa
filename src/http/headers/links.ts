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

/** A value of the header Link (RFC 8288 §3). Some parsers split the header at each comma, also within a target. */
export function link(target: string, relation: LinkRelation): string {
  return `<${target.replaceAll(',', '%2C')}>; rel="${relation}"`
}
