import { Agent, request } from 'node:http'
import { PROCESS_TOKEN } from '../service/service-process.ts'

/** What became of one request. */
export type Outcome =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly body: string
      readonly headers: Record<string, unknown>
    }
  /** Nobody listened, so nothing was sent. */
  | { readonly kind: 'refused' }
  /** It was sent, and the connection ended without an answer. */
  | { readonly kind: 'lost'; readonly reason: string }

export interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: object | undefined
  readonly headers?: Record<string, string>
}

/** Sends one request, and never throws. */
export function send(origin: string, { method, path, body, headers }: Sent, agent?: Agent): Promise<Outcome> {
  return new Promise((resolve) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const sending = request(`${origin}${path}`, {
      method,
      ...(agent && { agent }),
      headers: {
        authorization: `Bearer ${PROCESS_TOKEN}`,
        ...(text !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
        ...headers,
      },
    })
    sending.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', (error) => resolve({ kind: 'lost', reason: error.message }))
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString()
        resolve({ kind: 'answered', status: response.statusCode ?? 0, body, headers: response.headers })
      })
    })
    sending.on('error', (error: NodeJS.ErrnoException) => {
      resolve(
        error.code === 'ECONNREFUSED'
          ? { kind: 'refused' }
          : { kind: 'lost', reason: error.code ?? error.message },
      )
    })
    sending.end(text)
  })
}

/**
 * Lets so many callers send one request after the other on kept connections, until they are told to stop
 * or nobody listens any more.
 *
 * @param next the request of a caller, numbered from 0 over all of them
 * @param heard told of each outcome
 */
export async function runLoad(
  origin: string,
  callers: number,
  next: (number: number) => Sent,
  heard: (sent: Sent, outcome: Outcome) => void,
  isOver: () => boolean = () => false,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: callers })
  let number = 0
  const call = async () => {
    while (!isOver()) {
      const sent = next(number++)
      const outcome = await send(origin, sent, agent)
      heard(sent, outcome)
      if (outcome.kind !== 'answered') return
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  agent.destroy()
}
