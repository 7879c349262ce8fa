import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import jwt, { type SignOptions } from 'jsonwebtoken'
import type { TokenSettings } from './http/auth/verify-token.ts'
import { type Settings, SettingsError } from './settings.ts'

/** What a token that is minted here says. */
export interface TokenRequest {
  /** Scopes parted by spaces, as in `species:read planets:write`. */
  scope: string
  /** Seconds, or a time with its unit, as in `12h` and `30d`. */
  expiresIn: string
  subject?: string | undefined
}

/**
 * The settings to verify tokens with: in development with the secret of the data folder, which is made
 * when it is not there.
 */
export async function tokenSettings(settings: Settings): Promise<TokenSettings> {
  const { jwt: kind, jwtIssuer, jwtAudience, dataDir } = settings
  const known =
    kind.kind === 'development'
      ? ({ kind: 'secret', secret: await developmentSecret(dataDir) } as const)
      : kind
  return { jwt: known, jwtIssuer, jwtAudience }
}

/**
 * The random secret of a data folder, readable by its owner only. Two processes that start at once agree
 * on one: each writes its own aside, and only one of them can be linked into place.
 *
 * @throws {SettingsError} when the file is there but too short to be a secret, or cannot be read or made
 */
export async function developmentSecret(dataDir: string): Promise<string> {
  const folder = resolve(dataDir)
  const path = join(folder, 'development-secret')
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const secret = (await readFile(path, 'utf8').catch(() => makeSecret(path))).trim()
    if (secret.length >= 32) return secret
  } catch (error) {
    throw new SettingsError([
      `DATA_DIR: the development secret ${path} cannot be made or read: ${messageOf(error)}`,
    ])
  }
  throw new SettingsError([`DATA_DIR: ${path} is damaged; delete it to get a new one`])
}

/**
 * Signs a token that the service accepts.
 *
 * @throws {SettingsError} when tokens are verified with a key set (only its owner can sign), or the
 *   request is not sensible
 */
export function mintToken(settings: TokenSettings, { scope, expiresIn, subject }: TokenRequest): string {
  if (settings.jwt.kind === 'jwks') {
    throw new SettingsError([
      'JWT_JWKS_URL: tokens come from the owner of that key set; none can be made here',
    ])
  }
  try {
    return jwt.sign({ scope }, settings.jwt.secret, {
      algorithm: 'HS256',
      expiresIn: (/^[0-9]+$/.test(expiresIn) ? Number(expiresIn) : expiresIn) as NonNullable<
        SignOptions['expiresIn']
      >,
      ...(subject === undefined ? {} : { subject }),
      ...(settings.jwtIssuer === undefined ? {} : { issuer: settings.jwtIssuer }),
      ...(settings.jwtAudience === undefined ? {} : { audience: settings.jwtAudience }),
    })
  } catch (error) {
    throw new SettingsError([`the token cannot be made: ${messageOf(error)}`])
  }
}

async function makeSecret(path: string): Promise<string> {
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  await writeFile(aside, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' })
  try {
    await link(aside, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(aside, { force: true })
  }
  return readFile(path, 'utf8')
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
