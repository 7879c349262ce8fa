import type { Resource } from './resource.ts'

/** What can be done with a resource of a kind: the operations of SPEC §4 that it has. */
export interface Operations {
  /** It is one of many: it can be listed, and added to with a made identifier. */
  readonly listed: boolean
  readonly replaceable: boolean
}

/** The operations a resource has, which follow from its kind. All can be read and deleted. */
export function operationsOf({ kind, appendOnly }: Resource): Operations {
  return { listed: kind !== 'singleton', replaceable: !appendOnly }
}
