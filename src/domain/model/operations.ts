import type { Resource } from './resource.ts'

/** The operations of SPEC §4 that not every resource has. Every resource can be read and deleted. */
interface Operations {
  /** Resources can be listed, and added with a generated identifier. */
  readonly listed: boolean
  readonly replaceable: boolean
}

/** Derives the operations of a resource from its kind. */
export function operationsOf({ kind, appendOnly }: Resource): Operations {
  return { listed: kind !== 'singleton', replaceable: !appendOnly }
}
