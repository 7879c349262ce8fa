/** What the service uses of the metadata of a provider (OpenID Connect Discovery 1.0 §3, RFC 8414 §2, RFC 9207 §3). */
export interface ProviderMetadata {
  readonly issuer: string
  readonly jwks_uri: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly end_session_endpoint?: string
  readonly revocation_endpoint?: string
  readonly id_token_signing_alg_values_supported?: readonly string[]
  readonly authorization_response_iss_parameter_supported?: boolean
}

const TIMEOUT_MILLISECONDS = 2_000
const KEPT_MILLISECONDS = 3_600_000
/** Minimum time between two requests, even after a failure. */
const PAUSE_MILLISECONDS = 10_000

const ENDPOINTS = ['jwks_uri', 'authorization_endpoint', 'token_endpoint'] as const

/**
 * Reads the metadata of an issuer (OpenID Connect Discovery 1.0 §4).
 *
 * @throws {Error} if it does not respond, or responds with that of another issuer
 */
export async function discover(issuer: string, signal?: AbortSignal): Promise<ProviderMetadata> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  try {
    const response = await fetch(address, { signal: signal ?? AbortSignal.timeout(TIMEOUT_MILLISECONDS) })
    if (!response.ok) throw new Error(`the status is ${response.status}`)
    const metadata = (await response.json()) as ProviderMetadata
    // §4.3: otherwise, tokens of one issuer would pass for those of another.
    if (metadata.issuer !== issuer) throw new Error(`its issuer is ${metadata.issuer}`)
    for (const name of ENDPOINTS)
      if (!/^https?:/.test(metadata[name]) || !URL.canParse(metadata[name]))
        throw new Error(`it has no ${name}`)
    return metadata
  } catch (cause) {
    const { message, cause: reason } = cause as Error
    const detail = reason instanceof Error ? reason.message : message
    throw new Error(`OIDC_ISSUER: cannot read the metadata at ${address}: ${detail}`, { cause })
  }
}

/**
 * Makes the function that gives the metadata of an issuer, which it reads again every hour. While the issuer does not respond,
 * the last ones are used; it is asked again with a later call.
 *
 * @param reportFault called when they cannot be read
 * @returns a function that resolves to undefined if they have never been read
 */
export function keepMetadata(issuer: string, reportFault: (error: unknown) => void) {
  let known: ProviderMetadata | undefined
  let reading: Promise<void> | undefined
  let due = 0
  return async (): Promise<ProviderMetadata | undefined> => {
    if (Date.now() >= due) {
      due = Date.now() + PAUSE_MILLISECONDS
      reading = discover(issuer).then((metadata) => {
        known = metadata
        due = Date.now() + KEPT_MILLISECONDS
      }, reportFault)
    }
    if (!known) await reading
    return known
  }
}
