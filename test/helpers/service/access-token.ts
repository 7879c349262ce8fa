import { createHmac } from 'node:crypto'

interface Token {
  readonly secret: string
  readonly scope: string
  readonly subject?: string
  /** Besides those of the other members. */
  readonly claims?: Readonly<Record<string, unknown>>
  /** A day by default. */
  readonly seconds?: number
}

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')

/** An access token. It is signed at once, so that clients are made without waiting. */
export function accessToken({ secret, scope, subject, claims, seconds = 86_400 }: Token): string {
  const expires = Math.floor(Date.now() / 1_000) + seconds
  const signed = `${encoded({ alg: 'HS256' })}.${encoded({ ...claims, scope, sub: subject, exp: expires })}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}
