import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type JWTPayload, SignJWT } from 'jose'
import type { TokenSettings } from '../../http/auth/verify-token.ts'
import { type Settings, SettingsError } from '../settings/settings.ts'

/**
 * The settings for token verification. Without JWT settings, they contain the development secret of DATA_DIR.
 *
 * @param mayCreate whether to create the secret if there is none; otherwise that is an error
 */
export async function tokenSettings(settings: Settings, { mayCreate = true } = {}): Promise<TokenSettings> {
  const { jwt, dataDir } = settings
  if (jwt.kind !== 'development') return { ...settings, jwt }
  return { ...settings, jwt: { kind: 'secret', secret: await developmentSecret(dataDir, mayCreate) } }
}

/**
 * Reads the random secret of a data folder, or creates it, readable by its owner only.
 *
 * @throws {SettingsError} when the file is too short to be a secret, or cannot be read or created
 */
export async function developmentSecret(dataDir: string, mayCreate = true): Promise<string> {
  const folder = resolve(dataDir)
  const path = join(folder, 'development-secret')
  const stored = readFile(path, 'utf8')
  const content = mayCreate ? stored.catch(() => makeSecret(path)) : stored
  const secret = await content.catch(({ message }: Error) => {
    const problem = mayCreate
      ? `cannot create or read the development secret ${path}: ${message}`
      : `${folder} has no development secret: ${message}. Set DATA_DIR or JWT_SECRET to the service's value, or start the service there first`
    throw new SettingsError([`DATA_DIR: ${problem}`])
  })
  if (secret.trim().length >= 32) return secret.trim()
  throw new SettingsError([`DATA_DIR: ${path} is damaged; delete it, and the service will create a new one`])
}

/**
 * @param request `scope`: separated by spaces; `subject`: the author of changes; `expiresIn`: seconds, or a duration such
 *   as `12h` or `30d`
 * @param others claims besides these, for access rules
 * @throws {SettingsError} when a key set verifies the tokens: only its owner can sign them
 */
export async function mintToken(
  { jwt, jwtIssuer, jwtAudience }: TokenSettings,
  { scope, subject, expiresIn }: Record<'scope' | 'subject' | 'expiresIn', string>,
  others: object = {},
): Promise<string> {
  if (jwt.kind !== 'secret') {
    const name = jwt.kind === 'jwks' ? 'JWT_JWKS_URL' : 'OIDC_ISSUER'
    throw new SettingsError([`${name}: only the owner of that key set can issue tokens`])
  }
  const claims = { ...others, scope, sub: subject, iss: jwtIssuer, aud: jwtAudience } as JWTPayload
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt()
    .setExpirationTime(/^[0-9]+$/.test(expiresIn) ? `${expiresIn}s` : expiresIn)
    .sign(Buffer.from(jwt.secret))
}

/**
 * Processes that start at the same time share one secret: each writes a temporary file, and only one of these can be
 * linked to the final name.
 */
async function makeSecret(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  await writeFile(temporary, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    await link(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(temporary, { force: true })
  }
  return readFile(path, 'utf8')
}
