import { type CleanedEnv, type CleanOptions, cleanEnv } from 'envalid'
import { parseScopesMap } from '../../http/auth/role-scopes.ts'
import type { TokenSettings } from '../../http/auth/verify-token.ts'
import { isNamespaceName, NAMESPACE_NAME } from '../../http/namespaces.ts'
import { unknownScopes } from '../../model/access/scopes.ts'
import { type Domain, inCamelCase } from '../../model/definition/domain.ts'
import { mapped } from '../../model/values.ts'
import { environmentProblems } from './database-address.ts'
import { choice, settingsTable } from './settings-table.ts'

export class SettingsError extends Error {
  /** @param problems one line each */
  constructor(readonly problems: readonly string[]) {
    super(`Invalid settings:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
  }
}

/** The settings of the table in camel case, some of them renamed, and those derived from them. */
export type Settings = Readonly<ReturnType<typeof readSettings>>

/**
 * Reads the settings from an environment. An empty value counts as unset.
 *
 * @throws {SettingsError} with all problems. It contains no secrets, and no addresses, which may contain one.
 */
export function readSettings(
  environment: NodeJS.ProcessEnv,
  fileProblems: readonly string[] = [],
  { settings: domainSettings = {}, resources = [] }: Partial<Pick<Domain, 'settings' | 'resources'>> = {},
) {
  const variables = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const problems = [...fileProblems]
  const reporter: CleanOptions<unknown>['reporter'] = ({ errors }) => {
    for (const [name, error] of Object.entries(errors)) problems.push(`${name}: ${(error as Error).message}`)
  }
  const values = cleanEnv(variables, settingsTable, { reporter })
  const ruleTable = mapped(domainSettings, ({ choices, description }) => choice(choices, description))
  const ruleSettings = cleanEnv(variables, ruleTable, { reporter })
  const production = variables['NODE_ENV'] === 'production'
  problems.push(
    ...tokenProblems(variables, production),
    ...providerProblems(variables),
    ...scopeProblems(variables, resources),
    ...workerProblems(variables),
    ...namespaceProblems(variables),
    ...environmentProblems(variables),
  )
  if (problems.length > 0) throw new SettingsError(problems)
  const { apiNamespace, apiVersion, maxConnections, maxPageSize, otelExporterOtlpEndpoint, ...others } =
    inCamelCase(values) as SettingsInCamelCase
  const { jwtSecret, jwtJwksUrl, jwksMaxStaleHours, ...settings } = others
  const { oidcIssuer, oidcClientId, oidcAudience } = settings
  return {
    ...settings,
    namespace: apiNamespace,
    apiVersion,
    maximumConnections: maxConnections,
    maximumPageSize: maxPageSize,
    traceEndpoint: otelExporterOtlpEndpoint,
    jwt: tokenKind(jwtSecret, jwtJwksUrl, oidcIssuer, jwksMaxStaleHours),
    jwtIssuer: settings.jwtIssuer ?? oidcIssuer,
    jwtAudience: settings.jwtAudience ?? oidcAudience ?? oidcClientId,
    migrateOnStart: settings.databaseUrl === undefined || settings.migrateOnStart,
    graphqlExplorer: settings.graphqlExplorer ?? !production,
    graphqlIntrospection: settings.graphqlIntrospection ?? !production,
    databaseReplicaUrls: settings.databaseReplicaUrls ?? [],
    ruleSettings: inCamelCase(ruleSettings),
  }
}

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name & string>

type Values = CleanedEnv<typeof settingsTable>

type SettingsInCamelCase = {
  readonly [Name in keyof typeof settingsTable as CamelCase<Name>]: Values[Name]
}

function tokenProblems(variables: NodeJS.ProcessEnv, production: boolean): string[] {
  if (variables['SCOPES_MAP'] !== undefined && variables['SCOPES_CLAIM'] === undefined)
    return ['SCOPES_MAP: set SCOPES_CLAIM, the claim whose values it maps']
  const secret = variables['JWT_SECRET'] !== undefined
  const keySet = variables['JWT_JWKS_URL'] !== undefined
  if (secret && keySet) return ['JWT_SECRET and JWT_JWKS_URL: set only one of them']
  const issuer = variables['OIDC_ISSUER'] !== undefined
  if (secret && issuer) return ['JWT_SECRET and OIDC_ISSUER: set only one of them']
  if (production && !secret && !keySet && !issuer)
    return ['JWT_SECRET, JWT_JWKS_URL or OIDC_ISSUER: production requires one of them']
  return []
}

function providerProblems({ OIDC_ISSUER, OIDC_CLIENT_ID, ...others }: NodeJS.ProcessEnv): string[] {
  const isPartial = others['OIDC_SCOPES'] !== undefined || others['OIDC_AUDIENCE'] !== undefined
  const count = [OIDC_ISSUER, OIDC_CLIENT_ID].filter((value) => value !== undefined).length
  return count === 2 || (count === 0 && !isPartial)
    ? []
    : ['OIDC_ISSUER and OIDC_CLIENT_ID: set both of them for Sign in']
}

/** Without resources, any collection passes. Scopes without one may be for access rules. */
function scopeProblems(variables: NodeJS.ProcessEnv, resources: Domain['resources']): string[] {
  const { DEFAULT_SCOPE = '', ANONYMOUS_SCOPES = '', SCOPES_MAP = '' } = variables
  const mapped = Object.values(parseScopesMap(SCOPES_MAP) ?? {})
    .flat()
    .join(' ')
  const given = { DEFAULT_SCOPE, ANONYMOUS_SCOPES, SCOPES_MAP: mapped }
  return Object.entries(given).flatMap(([name, scopes]) => {
    const unknown = unknownScopes(scopes, resources).filter((scope) => scope.includes(':'))
    if (resources.length === 0 || unknown.length === 0) return []
    const collections = resources.map(({ path }) => path).join(', ')
    return [`${name}: there is no scope ${unknown.join(' or ')}; collections: ${collections}`]
  })
}

/** What is allowed but rarely meant, one line each. */
export function settingsWarnings({ jwt, jwtAudience }: Settings): string[] {
  if (jwt.kind !== 'jwks' || jwtAudience !== undefined) return []
  return [
    'JWT_AUDIENCE is not set: tokens that the owner of JWT_JWKS_URL has issued for other services are accepted if their scopes fit',
  ]
}

/** What a token needs for all namespaces, in a service that has several. */
export function namespacesClaim({ namespaces, namespaceClaim }: Settings): object {
  return namespaces === 'many' ? { [namespaceClaim]: '*' } : {}
}

/** Reads the given values, because envalid's cannot be read while any setting is invalid. */
function workerProblems(variables: NodeJS.ProcessEnv): string[] {
  if (!(Number(variables['WORKERS']) > 1) || variables['DATABASE_URL'] !== undefined) return []
  return ['WORKERS: the embedded database supports one process; set DATABASE_URL for more']
}

/** The embedded database gives all its sessions one search path, and replicas are those of one schema. */
function namespaceProblems({ NAMESPACES, ...variables }: NodeJS.ProcessEnv): string[] {
  if (NAMESPACES !== 'many') return []
  const name = variables['API_NAMESPACE'] ?? 'api'
  return [
    ...(variables['DATABASE_URL'] === undefined
      ? ['NAMESPACES: the sessions of the embedded database share one search path; set DATABASE_URL for many']
      : []),
    ...(variables['DATABASE_REPLICA_URLS'] === undefined
      ? []
      : ['NAMESPACES: many namespaces are read from the primary; unset DATABASE_REPLICA_URLS']),
    ...(isNamespaceName(name)
      ? []
      : [`API_NAMESPACE: ${name} cannot be one of many namespaces; ${NAMESPACE_NAME}`]),
  ]
}

/** `development`: tokens are verified with a random secret stored in the data folder. */
function tokenKind(
  secret: string | undefined,
  url: string | undefined,
  issuer: string | undefined,
  maximumStaleHours: number,
): TokenSettings['jwt'] | { readonly kind: 'development' } {
  if (secret !== undefined) return { kind: 'secret', secret }
  if (url !== undefined) return { kind: 'jwks', url, maximumStaleHours }
  if (issuer !== undefined) return { kind: 'issuer', url: issuer, maximumStaleHours }
  return { kind: 'development' }
}
