/**
 * The database cannot be used. The message for the operator states the reason and the remedy; print it without
 * a stack trace. The cause, if any, is the original error.
 */
export class DatabaseRefusedError extends Error {
  override name = 'DatabaseRefusedError'
}
