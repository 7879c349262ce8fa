import type { IncomingHttpHeaders } from 'node:http'
import { mapped } from '../../model/values.ts'
import { PREFERENCES, type Preference } from './preferences.ts'

/**
 * The request headers that operations read, by their names without hyphens. One that means different things to different
 * operations has an entry for each. OpenAPI describes Accept, Authorization and Content-Type elsewhere.
 */
export const REQUEST_HEADERS = {
  IfMatch: 'The entity tags of the versions that may be changed, or `*`.',
  IfUnmodifiedSince: 'Fails if the resource has changed since this time. Ignored with If-Match.',
  IfModifiedSince: '304 if the resource has not changed since this time. Ignored with If-None-Match.',
  IfNoneMatchRead: 'Entity tags that the client has. 304 if one of them is current.',
  IfNoneMatchWrite:
    'Entity tags that the resource must not have, or `*`: it must not exist. Otherwise 412. With PUT, `*` creates and never replaces.',
  ConsistencyToken: 'The token of a write that the response must reflect.',
  IdempotencyKey:
    'A unique key for this request. Sending it again creates nothing and returns the first response.',
  PreferRead: preferring('count=none'),
  PreferWrite: preferring('return=minimal', 'return=representation', 'handling=lenient', 'tx=rollback'),
  PreferWait: preferring('wait=20'),
  LastEventID: 'The position of the last event that the client received. Replaces `since`.',
  PreferDelete: preferring('handling=strict', 'tx=rollback'),
}

export type RequestHeader = keyof typeof REQUEST_HEADERS

/** The names in requests, as in `If-None-Match`. */
export const HEADER_NAMES = mapped(REQUEST_HEADERS, (_, header) =>
  header.replace(/(?:Read|Write|Wait|Delete)$/, '').replace(/(?<=[a-z])[A-Z]/g, '-$&'),
) as Readonly<Record<RequestHeader, string>>

const KEYS = mapped(HEADER_NAMES, (name) => name.toLowerCase()) as typeof HEADER_NAMES

/** The value of a header in a request, or in an operation of a batch. Node joins those of repeated headers. */
export function requestHeader(
  { headers }: { readonly headers: IncomingHttpHeaders },
  header: RequestHeader,
): string | undefined {
  return headers[KEYS[header]] as string | undefined
}

function preferring(...preferences: readonly Preference[]): string {
  return `${preferences.map((one) => `\`${one}\`: ${PREFERENCES[one]}`).join('; ')} (RFC 7240).`
}
