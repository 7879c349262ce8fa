interface SharedRead {
  isSent: boolean
  readonly result: Promise<unknown>
}

/**
 * Runs equal reads once. While one runs, those that arrive wait and share the next, so that no caller receives an older
 * state. With 16 concurrent requests for the first page of a collection, this halves the cost for the process and the
 * database.
 */
export class SharedReads {
  /** The last of the equal reads, by database and key. */
  readonly #latest = new WeakMap<object, Map<string, SharedRead>>()

  /**
   * Reads, or joins an equal read.
   *
   * @param client the database that is read
   * @param key the same for equal reads
   * @param send waits for a connection, calls `sent`, and reads
   */
  read<Result>(client: object, key: string, send: (sent: () => void) => Promise<Result>): Promise<Result> {
    const reads = this.#latest.get(client) ?? new Map<string, SharedRead>()
    this.#latest.set(client, reads)
    const latest = reads.get(key)
    if (!latest || latest.isSent) return start(reads, key, send, latest)
    return (latest.result as Promise<Result>).catch((error) => {
      if (latest.isSent) throw error
      // The first caller stopped waiting for a connection; this one may have more time.
      return this.read(client, key, send)
    })
  }
}

function start<Result>(
  reads: Map<string, SharedRead>,
  key: string,
  send: (sent: () => void) => Promise<Result>,
  previous: SharedRead | undefined,
): Promise<Result> {
  const own: { isSent: boolean; result: Promise<Result> | undefined } = { isSent: false, result: undefined }
  const run = () =>
    send(() => {
      own.isSent = true
    })
  const leave = () => {
    if (reads.get(key) === own) reads.delete(key)
    // V8 keeps deleted entries of an old map until the next major collection, and with them the rows: 60 µs per list.
    own.result = undefined
  }
  // An error of the previous read belongs to another caller.
  const result = previous ? previous.result.then(run, run) : run()
  result.then(leave, leave)
  own.result = result
  reads.set(key, own as SharedRead)
  return result
}
