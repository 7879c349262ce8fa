import { accessSync, constants } from 'node:fs'

/** The parameters that the driver (pg) and `parseConnection` read. They ignore others, such as those of Prisma's engine. */
const PARAMETERS = [
  'schema',
  'pooler',
  'host',
  'port',
  'user',
  'password',
  'application_name',
  'options',
  'lock_timeout',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
]

const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full']

const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey']

/** An unescaped `?` in a password makes a part of it look like a name. */
const NAME = /^[a-z_]+$/i

/** What an address of PostgreSQL must do; undefined if it is valid. Does not repeat it, because it may contain a password. */
export function requirementOfAddress(address: string): string | undefined {
  if (!URL.canParse(address) || !/^postgres(?:ql)?:/.test(address))
    return 'have the form postgresql://user:password@host:5432/name'
  const { searchParams } = new URL(address)
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) {
    const name = NAME.test(unknown) ? ` ${unknown}` : ''
    return `not have the unknown parameter${name}; it can have ${PARAMETERS.join(', ')}`
  }
  const mode = searchParams.get('sslmode')
  if (mode !== null && !TLS_MODES.includes(mode)) return `have one of these sslmode: ${TLS_MODES.join(', ')}`
  if (mode === 'verify-ca' && !searchParams.has('sslrootcert'))
    return 'have sslrootcert with sslmode=verify-ca'
  const file = TLS_FILES.find((name) => !isReadable(searchParams.get(name)))
  return file && `name a readable file as ${file}`
}

function isReadable(path: string | null): boolean {
  if (path === null) return true
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    return false
  }
}
