import type { ServiceParts } from './application.ts'
import { startService } from './server.ts'

/*
 * What `halgraph/testing` shares with the tests of this project: a service that ends with its test, and requests to it.
 */

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what it receives
export type Json = any

export interface Answer<Body = Json> {
  readonly status: number
  readonly headers: Headers
  /** Parsed JSON, the text of another media type, or undefined for none. */
  readonly body: Body
}

export type RequestHeaders = Readonly<Record<string, string>>

/** The context of a test of `node:test` or of ava, at whose end the service is closed. */
export type Owner =
  | { after(release: () => Promise<void>): unknown }
  | { teardown(release: () => Promise<void>): unknown }

/**
 * Starts a service that its owner, or else `close`, stops. Then each fault that is left in `faults` is an error.
 *
 * @param release called when the service has stopped
 */
export async function startOwned(
  parts: Omit<ServiceParts, 'reportFault'>,
  owner?: Owner,
  release = async () => {},
) {
  const faults: Error[] = []
  const service = await startService({ ...parts, reportFault: (error) => faults.push(error as Error) })
  const stop = async () => {
    await service.close().finally(release)
    const reported = faults.map((fault) => fault.stack ?? String(fault)).join('\n')
    if (reported)
      throw new AggregateError(faults, `The service reported ${faults.length} faults:\n${reported}`)
  }
  let stopping: Promise<void> | undefined
  const close = () => (stopping ??= stop())
  if (owner) 'teardown' in owner ? owner.teardown(close) : owner.after(close)
  return { service, faults, close }
}

interface Sender {
  readonly token?: string | Promise<string> | undefined
  /** Media types, unless a request names others. */
  readonly accept?: string | undefined
  /** Is shown every answer, and throws for one that is wrong. */
  readonly check?: ((method: string, url: string, answer: ReadAnswer) => void) | undefined
}

interface ReadAnswer extends Answer {
  readonly text: string
}

type Request = (method: string, path: string, body?: unknown, headers?: RequestHeaders) => Promise<ReadAnswer>

/** Makes the function that sends the requests of one caller. Texts and bytes are sent as they are, other bodies as JSON. */
export function createRequest(
  { base }: { readonly base: string },
  { token, accept, check }: Sender = {},
): Request {
  return async (method, path, body, headers = {}) => {
    const all = new Headers({
      ...(token !== undefined && { authorization: `Bearer ${await token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(accept !== undefined && { accept }),
    })
    for (const [name, value] of Object.entries(headers)) all.set(name, value)
    const url = path.startsWith('http') ? path : base + path
    const isRaw = typeof body === 'string' || body instanceof Uint8Array
    const content = isRaw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body)
    const send = () => fetch(url, { method, headers: all, body: content ?? null, redirect: 'manual' })
    let response = await send()
    // The process stood still for seconds, and the service never read the request (RFC 9110 §15.5.9).
    if (response.status === 408) response = await send()
    const text = await response.text()
    const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '')
    const parsed: Json = text === '' ? undefined : isJson ? JSON.parse(text) : text
    const answer = { status: response.status, headers: response.headers, body: parsed, text }
    check?.(method, url, answer)
    return answer
  }
}
