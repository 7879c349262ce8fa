import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type JWTPayload, SignJWT } from 'jose'
import type { TokenSettings } from '../http/auth/verify-token.ts'
import { type Settings, SettingsError } from './settings/settings.ts'

/**
 * The settings for token verification. Without JWT settings they contain the development secret of DATA_DIR.
 *
 * @param secretOf `storedSecret` for a command that must not create the secret
 */
export async function tokenSettings(
  settings: Settings,
  secretOf = developmentSecret,
): Promise<TokenSettings> {
  const { jwt, dataDir } = settings
  if (jwt.kind !== 'development') return { ...settings, jwt }
  return { ...settings, jwt: { kind: 'secret', secret: await secretOf(dataDir) } }
}

/**
 * Reads the random secret of a data folder, or creates it, readable by its owner only.
 *
 * @throws {SettingsError} when the file is too short to be a secret, or cannot be read or created
 */
export async function developmentSecret(dataDir: string): Promise<string> {
  const path = secretPath(dataDir)
  const content = readFile(path, 'utf8').catch(() => makeSecret(path))
  return checked(path, content, `cannot create or read the development secret ${path}`)
}

/** @throws {SettingsError} when the data folder has no secret, or it cannot be read */
export function storedSecret(dataDir: string): Promise<string> {
  const path = secretPath(dataDir)
  const advice = '. Set DATA_DIR or JWT_SECRET to the value of the service, or start the service there first'
  return checked(path, readFile(path, 'utf8'), `${dirname(path)} has no development secret`, advice)
}

function secretPath(dataDir: string): string {
  return join(resolve(dataDir), 'development-secret')
}

async function checked(
  path: string,
  content: Promise<string>,
  problem: string,
  advice = '',
): Promise<string> {
  const secret = await content.catch(({ message }: Error) => {
    throw new SettingsError([`DATA_DIR: ${problem}: ${message}${advice}`])
  })
  if (secret.trim().length >= 32) return secret.trim()
  throw new SettingsError([`DATA_DIR: ${path} is damaged; delete it, and the service creates a new one`])
}

/**
 * Signs a token that the service accepts.
 *
 * @param request `scope`: separated by spaces; `expiresIn`: seconds, or a duration such as `12h` or `30d`; `subject`: the
 *   author of changes, `developer` by default
 * @throws {SettingsError} when a key set verifies the tokens: only its owner can sign them
 */
export async function mintToken(
  { jwt, jwtIssuer, jwtAudience }: TokenSettings,
  {
    scope,
    expiresIn,
    subject = 'developer',
  }: { scope: string; expiresIn: string; subject?: string | undefined },
): Promise<string> {
  if (jwt.kind === 'jwks') {
    throw new SettingsError(['JWT_JWKS_URL: only the owner of that key set can issue tokens'])
  }
  const claims = { scope, sub: subject, iss: jwtIssuer, aud: jwtAudience } as JWTPayload
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
