import type { KeyObject } from 'node:crypto'
import type { JWTPayload } from 'jose'
import type { Middleware as KoaMiddleware, ParameterizedContext } from 'koa'
import type { Caller } from '../model/access/caller.ts'
import type { Preferences } from './headers.ts'

/** What the service has learnt about a request. Absent members are not known yet, or do not apply. */
export interface State {
  requestId: string
  /** The name of the namespace in the path, in a service that has several. */
  namespace?: string
  /** The beginning of every URL. */
  root?: string
  /** The template of the path that is served. */
  route?: string | undefined
  /** Of requests with a verified token, and of those without one that may pass. */
  caller?: Caller
  /** What koa-jwt verifies, and what it has found. */
  token?: string
  secret?: KeyObject
  claims?: JWTPayload
  /** When the token expires, in seconds since 1970, with the leeway. */
  expiry?: number | undefined
  /** The media type of the response. */
  mediaType?: string
  /** The header Prefer. */
  preferences?: Preferences
  /** The bytes of the body. */
  bodyBytes?: number
  /** Counts bytes that a response keeps in memory. Returns what to call when they are sent, or no longer kept. */
  holdResponse?: (bytes: number) => () => void
  /** Whether the entity tag names a version, which changes with the content. */
  isVersioned?: boolean
  /** Why a request failed, for the log. */
  reason?: string
}

export type Context = ParameterizedContext<State>

export type Middleware = KoaMiddleware<State>
