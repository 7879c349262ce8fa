import { connect, type Socket } from 'node:net'

/** What the load generator looks at in an answer. */
export interface Answer {
  readonly status: number
  readonly entityTag: string | undefined
}

/**
 * One kept-alive HTTP/1.1 connection that sends one request at a time and reads no more of the answer
 * than where it ends. The generator shares the machine with what it measures, and common clients cost
 * more per request than the fastest of the servers does; so it speaks this little HTTP itself.
 */
export class HttpConnection {
  #settle: ((answer: Answer) => void) | undefined
  #fail: ((error: Error) => void) | undefined
  /** What has arrived of the answer; latin1, so that a character is a byte. */
  #received = ''

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true).setEncoding('latin1')
    socket.on('data', (chunk: string) => this.#receive(chunk))
    socket.on('error', (error) => this.#fail?.(error))
    socket.on('close', () => this.#fail?.(new Error('The server ended the connection.')))
  }

  static open(host: string, port: number): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, host, () => resolve(new HttpConnection(socket)))
      socket.once('error', reject)
    })
  }

  exchange(request: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#settle = resolve
      this.#fail = reject
      this.socket.write(request)
    })
  }

  close(): void {
    this.#fail = undefined
    this.socket.destroy()
  }

  #receive(chunk: string): void {
    this.#received += chunk
    const headEnd = this.#received.indexOf('\r\n\r\n')
    if (headEnd < 0) return
    const head = this.#received.slice(0, headEnd + 2)
    const status = Number(head.slice(9, 12))
    if (!this.#isWhole(head, headEnd + 4, status)) return
    this.#received = ''
    this.#settle?.({ status, entityTag: /\r\netag: ([^\r]*)/i.exec(head)?.[1] })
  }

  #isWhole(head: string, bodyStart: number, status: number): boolean {
    if (status === 204 || status === 304) return true
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    return length === undefined
      ? this.#received.endsWith('\r\n0\r\n\r\n')
      : this.#received.length >= bodyStart + Number(length)
  }
}
