/** A long run was not made, because this machine lacks something that it needs. */
export class Skipped extends Error {
  override name = 'Skipped'
}
