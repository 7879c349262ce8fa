import { createSecretKey } from 'node:crypto'
import jwt from 'koa-jwt'
import type { TokenSettings, Verify } from './authenticate.ts'
import type { Claims } from './verify-with-key-set.ts'

/** RFC 7515 §4.1.11: `crit` names extensions that must be understood. This service understands none. */
function refuseExtensions(header: object): void {
  if ('crit' in header) throw new Error('the token names an extension in crit')
}

/** Verifies tokens that are signed with a shared secret. Only HS256 is let through. */
export function verifyWithSecret(
  secret: string,
  { jwtIssuer, jwtAudience }: Pick<TokenSettings, 'jwtIssuer' | 'jwtAudience'>,
): Verify {
  // As a key: of a text, jsonwebtoken tries first whether it is a public one, which takes 0.1 ms.
  const key = createSecretKey(Buffer.from(secret)) as unknown as string
  const verify = jwt({
    secret: async (header) => {
      refuseExtensions(header)
      return key
    },
    algorithms: ['HS256'],
    key: 'claims',
    getToken: (context) => context.state['token'],
    ...(jwtIssuer === undefined ? {} : { issuer: jwtIssuer }),
    ...(jwtAudience === undefined ? {} : { audience: jwtAudience }),
  })
  return async (token, context) => {
    context.state['token'] = token
    await verify(context as Parameters<typeof verify>[0], async () => {})
    const claims: unknown = context.state['claims']
    if (typeof claims !== 'object' || claims === null) throw new Error('the payload is not an object')
    return claims as Claims
  }
}
