import type { Resource } from '../../../domain/model/resource.ts'
import { openApiDocument } from './document.ts'

/** The OpenAPI document as docs/openapi.json has it: with the default settings, for people to read. */
export function committedDocument(resources: readonly Resource[]): string {
  const settings = { publicBaseUrl: undefined, namespace: 'api', version: 'v1', maximumPageSize: 100 }
  return `${JSON.stringify(openApiDocument(resources, settings), null, 2)}\n`
}
