import type { Sent } from '../test/helpers/load/load.ts'
import { get, graphql, headers, post } from './requests.ts'

/** Texts that repeat what an expression may look for again and again, with an end that it does not expect. */
const longTexts = (length: number) =>
  [' ', '0', '-', '.', ',', ';', '"', '\\', '|', 'a'].map((character) => `1.${character.repeat(length)}x`)

/** In the places of a request that have room for 15,000 characters. */
export const IN_TARGETS = longTexts(4_800).flatMap((text) =>
  [
    'q=',
    'id=',
    'sort=',
    'fields=',
    'embed=',
    'cursor=',
    'page=',
    'filter=habitat:',
    'filter=last_updated:',
  ].map((parameter) => get(`species?${parameter}${encodeURIComponent(text)}`)),
)
export const IN_HEADERS = longTexts(14_000).flatMap((text) =>
  [
    'accept',
    'prefer',
    'if-none-match',
    'if-modified-since',
    'accept-encoding',
    'content-type',
    'last-event-id',
  ].map((name) => get('species/s1', { [name]: text })),
)

/** In the places of a body that have room for a megabyte. */
export const IN_BODIES = longTexts(60_000).flatMap((text): Sent[] => [
  post({ scientific_name: text, habitat: text, temperature_range: { min_celsius: text } }),
  {
    method: 'POST',
    path: '/api/v1/missions',
    body: { name: text, launch_date: text, status: text },
    headers,
  },
  {
    method: 'POST',
    path: '/api/v1/batch',
    headers,
    body: {
      operations: [
        { method: 'POST', path: '/planets', headers: { Prefer: text, 'If-Match': text }, body: {} },
      ],
    },
  },
])
export const IN_VARIABLES = longTexts(60_000).map((text) =>
  graphql(
    `query ($text: String, $id: ID!) {
      node(nodeId: $id) { nodeId } species(id: $id) { id } changes(since: $text) { hasMore }
      a: speciesPage(search: $text, cursor: $text) { totalCount }
      b: speciesPage(filter: { habitat: { containsInsensitive: $text } }) { totalCount }
    }`,
    { text, id: text },
  ),
)
