import { existsSync } from 'node:fs'
import type { TokenSettings } from '../../http/auth/verify-token.ts'
import { allScopes } from '../../model/access/scopes.ts'
import { SERVICE_NAME } from '../../observability/service-name.ts'
import type { Service } from '../server.ts'
import type { Configuration } from '../settings/configuration.ts'
import { namespacesClaim } from '../settings/settings.ts'
import { styled } from '../terminal.ts'
import { mintToken } from './development-token.ts'

/** Prints where the service is, and a token for its pages. */
export async function introduce(
  { origin, base }: Service,
  { settings, domain }: Configuration,
  tokens: TokenSettings,
): Promise<void> {
  const scope = allScopes(domain.resources).join(' ')
  const token = await mintToken(
    tokens,
    { scope, subject: 'developer', expiresIn: '12h' },
    namespacesClaim(settings),
  )
  const bold = (text: string) => styled(process.stdout, 'bold', text)
  const isMany = settings.namespaces === 'many'
  const inside = isMany ? `${origin}/${settings.namespace}` : origin
  const explorer = settings.graphqlExplorer ? `\n  ${inside}/graphql   the GraphQL explorer` : ''
  const isRestricted = domain.resources.some(({ access }) => access)
  const claims = isRestricted ? ' and no claims (npx halgraph token --claims adds those of access rules)' : ''
  const seed = existsSync(domain.folder.seed) ? '\n  npx halgraph seed   adds an example catalogue' : ''
  process.stdout.write(`
${bold(`${domain.title ?? SERVICE_NAME}: open in a browser`)}
  ${origin}/   ${isMany ? 'the namespaces' : 'where to go, with counts and charts'}
  ${base}   every resource as a page
  ${inside}/docs   the API reference${explorer}

${bold('Token for these pages')}, with all scopes${claims}, valid for twelve hours
  ${token}

${bold('In another terminal')}${seed}
  curl -s -H "Authorization: Bearer $(npx halgraph token)" ${base}

`)
}
