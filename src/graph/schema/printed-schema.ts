import { lexicographicSortSchema, printSchema } from 'graphql'
import type { Resource } from '../../domain/model/resource.ts'
import { createSchema } from './schema.ts'

/** The schema as docs/schema.graphql has it: for people to read, in an order that no change disturbs. */
export function printedSchema(resources: readonly Resource[]): string {
  return `${printSchema(lexicographicSortSchema(createSchema(resources)))}\n`
}
