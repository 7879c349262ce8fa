import { createHash } from 'node:crypto'
import { v4, v7 } from 'uuid'
import type { Resource } from '../../domain/model/resource.ts'

/**
 * The identifier of the row of an import that brings none. It follows from the import and the line alone,
 * so that a row which is tried again after an interruption meets itself instead of becoming a second
 * resource; and as the import's key is random, nobody else can tell it beforehand.
 *
 * @param started the start of the import, in milliseconds since 1970
 */
export function rowIdentifier(resource: Resource, key: string, started: number, line: number): string {
  const random = createHash('sha256').update(`${key}:${line}`).digest().subarray(0, 16)
  return resource.randomIdentifiers ? v4({ random }) : v7({ msecs: started, seq: line, random })
}
