/** Another request was faster; the same attempt again will see what it left. Never reaches a caller. */
export class RaceLost extends Error {
  override readonly name = 'RaceLost'
}

/** The parent of an owned resource is not there; whoever asked for the write says whether it ever was. */
export class ParentMissing extends Error {
  override readonly name = 'ParentMissing'
}
