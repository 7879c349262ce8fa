import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import jwt, { type SignOptions } from 'jsonwebtoken'
import type { TokenSettings } from './http/auth/verify-token.ts'
import { type Settings, SettingsError } from './settings.ts'

/** The contents of a new token. */
export interface TokenRequest {
  /** Scopes separated by spaces, as in `species:read planets:write`. */
  scope: string
  /** Seconds, or a duration with its unit, such as `12h` or `30d`. */
  expiresIn: string
  subject?: string | undefined
}

/**
 * The settings for token verification. Without JWT settings they contain the development secret, which is
 * created if it does not exist.
 */
export async function tokenSettings(settings: Settings): Promise<TokenSettings> {
  const { jwt: kind, jwtIssuer, jwtAudience, defaultScope, dataDir } = settings
  const known =
    kind.kind === 'development'
      ? ({ kind: 'secret', secret: await developmentSecret(dataDir) } as const)
      : kind
  return { jwt: known, jwtIssuer, jwtAudience, defaultScope }
}

/**
 * The random secret of a data folder, readable by its owner only. Processes that start at the same time use
 * one secret: each writes its own temporary file, and only one of these can be linked to the final name.
 *
 * @throws {SettingsError} when the file is too short to be a secret, or cannot be read or created
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
      `DATA_DIR: cannot create or read the development secret ${path}: ${messageOf(error)}`,
    ])
  }
  throw new SettingsError([`DATA_DIR: ${path} is damaged; delete it to create a new one`])
}

/**
 * Signs a token that the service accepts.
 *
 * @throws {SettingsError} when a key set verifies the tokens (only its owner can sign them), or for an invalid
 *   duration
 */
export function mintToken(settings: TokenSettings, { scope, expiresIn, subject }: TokenRequest): string {
  if (settings.jwt.kind === 'jwks') {
    throw new SettingsError(['JWT_JWKS_URL: only the owner of that key set can issue tokens'])
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
    throw new SettingsError([`cannot create the token: ${messageOf(error)}`])
  }
}

async function makeSecret(path: string): Promise<string> {
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

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
