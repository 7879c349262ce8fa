/**
 * The database cannot be used as it is: the message says why and what to do, and is meant for the person
 * who starts the service. Print it without a stack. The cause, if any, is the error underneath.
 */
export class DatabaseRefusedError extends Error {
  override name = 'DatabaseRefusedError'
}
