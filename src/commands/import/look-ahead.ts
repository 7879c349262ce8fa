import { createReadStream } from 'node:fs'

const LINE_FEED = 0x0a
const NOTHING = Buffer.alloc(0)

/** Reads a file from its beginning, and holds no more of it than is looked at. */
export class LookAhead {
  /** What was read and not skipped yet. */
  bytes: Buffer = NOTHING
  readonly #chunks: AsyncIterator<Buffer>

  constructor(file: string) {
    this.#chunks = createReadStream(file)[Symbol.asyncIterator]()
  }

  /** Whether there is anything left; then `bytes` is not empty. */
  async hasMore(): Promise<boolean> {
    return this.bytes.length > 0 || this.#read()
  }

  /**
   * Reads on until `lengthOf` finds the length of the first record.
   *
   * @param lengthOf tells -1 for bytes that do not hold the end of the record
   * @returns that length, or the length of `bytes` once that exceeds the limit or the file ends
   */
  async find(lengthOf: (bytes: Buffer) => number, limit: number): Promise<number> {
    for (;;) {
      const length = lengthOf(this.bytes)
      if (length >= 0) return length
      if (this.bytes.length > limit || !(await this.#read())) return this.bytes.length
    }
  }

  /** Skips so many of `bytes`; returns how many line feeds they held. */
  skip(length: number): number {
    const skipped = this.bytes.subarray(0, length)
    this.bytes = this.bytes.subarray(length)
    let lines = 0
    for (let at = skipped.indexOf(LINE_FEED); at >= 0; at = skipped.indexOf(LINE_FEED, at + 1)) lines += 1
    return lines
  }

  /** Skips the rest of the line, however long that is; returns how many line feeds that held: 1, or 0 at the end. */
  async skipLine(): Promise<number> {
    while (await this.hasMore()) {
      const end = this.bytes.indexOf(LINE_FEED)
      if (end >= 0) return this.skip(end + 1)
      this.bytes = NOTHING
    }
    return 0
  }

  async close(): Promise<void> {
    await this.#chunks.return?.()
  }

  async #read(): Promise<boolean> {
    const { value, done } = await this.#chunks.next()
    if (done) return false
    this.bytes = this.bytes.length === 0 ? value : Buffer.concat([this.bytes, value])
    return true
  }
}
