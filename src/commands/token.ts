import { allScopes, unknownScopes } from '../model/access/scopes.ts'
import type { Domain } from '../model/definition/domain.ts'
import { isObject } from '../model/values.ts'
import { ArgumentsError, runCommand } from '../service/command.ts'
import { loadConfiguration } from '../service/settings/configuration.ts'
import { namespacesClaim } from '../service/settings/settings.ts'
import { mintToken, tokenSettings } from '../service/start/development-token.ts'

const usage = `Prints an access token, signed with JWT_SECRET or the development secret in DATA_DIR.

  npx halgraph token --scope "species:read planets:write" --expires-in 30d --subject ada

  --scope       scopes separated by spaces: <collection>:read or <collection>:write, or those of fields, with * for all collections;
                default: all of all collections
  --expires-in  seconds, or a duration such as 90m, 12h or 30d; default: 12h
  --subject     the subject of the token, recorded as the author of its changes; default: developer
  --claims      other claims, which access rules use, as a JSON object: '{"role":"instructor"}'

With NAMESPACES=many, the token is for all namespaces unless --claims names some.

The service creates the development secret when it first starts; this command only reads it.`

const options = {
  scope: { type: 'string' },
  'expires-in': { type: 'string', default: '12h' },
  subject: { type: 'string', default: 'developer' },
  claims: { type: 'string', default: '{}' },
} as const

const DURATION = /^[1-9][0-9]{0,9}(?: ?[smhdwy])?$/

await runCommand(usage, { options }, async ({ values }) => {
  const { subject, 'expires-in': expiresIn } = values
  const claims = parseClaims(values.claims)
  const { settings, domain } = await loadConfiguration()
  const { scope = allScopes(domain.resources).join(' ') } = values
  refuseUnknownScopes(scope, domain)
  if (!DURATION.test(expiresIn)) {
    throw new ArgumentsError(
      `--expires-in must be seconds, or a duration such as 90m or 30d, not ${expiresIn}`,
    )
  }
  const tokens = await tokenSettings(settings, { mayCreate: false })
  const all = { ...namespacesClaim(settings), ...claims }
  console.log(await mintToken(tokens, { scope, subject, expiresIn }, all))
})

/** @throws {ArgumentsError} for a text that is not a JSON object */
function parseClaims(text: string): object {
  try {
    const claims: unknown = JSON.parse(text)
    if (isObject(claims)) return claims
  } catch {}
  throw new ArgumentsError(`--claims must be a JSON object, as in '{"role":"instructor"}', not ${text}`)
}

/** @throws {ArgumentsError} for a scope that no request needs */
function refuseUnknownScopes(scope: string, { resources }: Domain): void {
  const unknown = unknownScopes(scope, resources)
  if (unknown.length === 0) return
  const collections = ['*', ...resources.map(({ path }) => path)]
  throw new ArgumentsError(
    `--scope: unknown ${unknown.map((name) => JSON.stringify(name)).join(', ')}. A scope is <collection>:read ` +
      `or <collection>:write, or one of a field; collections: ${collections.join(', ')}`,
  )
}
