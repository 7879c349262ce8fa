import { KeyObject } from 'node:crypto'
import {
  type CryptoKey,
  createRemoteJWKSet,
  customFetch,
  type ExportedJWKSCache,
  errors,
  type JWTHeaderParameters,
  jwksCache,
} from 'jose'
import { DomainError } from '../../model/errors.ts'
import { discover } from './discovery.ts'

export interface KeySetSettings {
  /** `issuer`: the address of an issuer, whose metadata has that of the key set. */
  readonly kind: 'jwks' | 'issuer'
  readonly url: string
  /** How long keys are used when the set cannot be fetched again. */
  readonly maximumStaleHours: number
}

const HOUR_MILLISECONDS = 3_600_000

/** A set may have several keys that could have signed a token which names none. */
const MAXIMUM_CANDIDATES = 16

const REFRESH_MILLISECONDS = 600_000

/** Minimum time between two fetches, even after a failure. */
const PAUSE_MILLISECONDS = 10_000

/**
 * Finds the public keys that may have signed a token in a JSON Web Key Set (RFC 7517): several if the token, or the set,
 * does not name one. The set is fetched at first use, when it lacks the key, and in the background every ten minutes. If
 * that fails, the old keys stay in use for as long as the settings say.
 *
 * @param reportFault called when a fetch in the background fails
 * @throws {DomainError} from the returned function: SERVICE_UNAVAILABLE (503) if the set cannot be fetched
 */
export function createKeySet(
  { kind, url, maximumStaleHours }: KeySetSettings,
  reportFault: (error: unknown) => void,
): (header: JWTHeaderParameters) => Promise<readonly KeyObject[]> {
  const cache: Partial<ExportedJWKSCache> = {}
  let triedAt = Number.NEGATIVE_INFINITY
  const isPausing = () => Date.now() < triedAt + PAUSE_MILLISECONDS
  const keySet = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: maximumStaleHours * HOUR_MILLISECONDS,
    // For this long after a successful fetch, unknown keys do not cause another.
    cooldownDuration: 30_000,
    timeoutDuration: 2_000,
    [jwksCache]: cache as Record<string, never>,
    [customFetch]: async (location, options) => {
      if (isPausing()) throw new Error('The last fetch of the key set failed a moment ago.')
      triedAt = Date.now()
      return fetch(kind === 'issuer' ? (await discover(url, options.signal)).jwks_uri : location, options)
    },
  })
  return async (header) => {
    const isOld = Date.now() >= (cache.uat ?? 0) + REFRESH_MILLISECONDS
    if (keySet.fresh && isOld && !isPausing()) keySet.reload().catch(reportFault)
    const keys = await keySet(header).then((key) => [key], severalOrNone)
    return keys.map((key) => KeyObject.from(key))
  }
}

/** An unknown key is the caller's fault. The key set causes all other failures. */
async function severalOrNone(error: unknown): Promise<CryptoKey[]> {
  if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JOSENotSupported) return []
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    const keys: CryptoKey[] = []
    for await (const key of error) if (keys.push(key) === MAXIMUM_CANDIDATES) break
    return keys
  }
  const message = 'The keys that verify access tokens cannot be fetched at the moment.'
  throw Object.assign(new DomainError('SERVICE_UNAVAILABLE', message), { cause: error })
}
