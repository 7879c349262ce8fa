import { accessSync, constants } from 'node:fs'

/** The parameters that the driver (pg) and `parseConnection` read. They ignore others, such as those of Prisma's engine. */
const PARAMETERS = [
  ...'schema pooler host port user password application_name options lock_timeout'.split(' '),
  ...['sslmode', 'sslrootcert', 'sslcert', 'sslkey'],
]

const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full']

const TLS_FILES = ['sslrootcert', 'sslcert', 'sslkey']

/** An unescaped `?` in a password makes a part of it look like a name. */
const NAME = /^[a-z_]+$/i

/** The hosts of an address with their ports. With several ports, it is no URL. */
const HOSTS = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/

const ONE_HOST = 'name one host; for several servers, that of a proxy that checks them (docs/OPERATIONS.md)'

/** What an address of PostgreSQL must do; undefined if it is valid. Does not repeat it, because it may contain a password. */
export function requirementOfAddress(address: string): string | undefined {
  if (isList(HOSTS.exec(address)?.[1])) return ONE_HOST
  if (!URL.canParse(address) || !/^postgres(?:ql)?:/.test(address))
    return 'have the form postgresql://user:password@host:5432/name'
  const { searchParams } = new URL(address)
  const unknown = [...searchParams.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined) {
    const name = NAME.test(unknown) ? ` ${unknown}` : ''
    return `not have the unknown parameter${name}; it can have ${PARAMETERS.join(', ')}`
  }
  if (['host', 'port'].some((name) => isList(searchParams.get(name)))) return ONE_HOST
  const mode = searchParams.get('sslmode')
  if (mode !== null && !TLS_MODES.includes(mode)) return `have one of these sslmode: ${TLS_MODES.join(', ')}`
  if (mode === 'verify-ca' && !searchParams.has('sslrootcert'))
    return 'have sslrootcert with sslmode=verify-ca'
  const file = TLS_FILES.find((name) => !isReadable(searchParams.get(name)))
  return file && `name a readable file as ${file}`
}

/** Problems of the variables that complete DATABASE_URL in libpq (PostgreSQL: 34.15, environment variables). */
export function environmentProblems(environment: NodeJS.ProcessEnv): string[] {
  const { DATABASE_URL: address, PGTARGETSESSIONATTRS: attributes = 'any' } = environment
  if (address === undefined || !URL.canParse(address)) return []
  const { hostname, port, searchParams } = new URL(address)
  const given = { PGHOST: hostname || searchParams.get('host'), PGPORT: port || searchParams.get('port') }
  const lists = Object.entries(given).filter(([name, value]) => !value && isList(environment[name]))
  return [
    ...lists.map(([name]) => `${name}: must ${ONE_HOST}`),
    ...(attributes === 'any' ? [] : [`PGTARGETSESSIONATTRS: has no effect; DATABASE_URL must ${ONE_HOST}`]),
  ]
}

/** libpq tries the hosts of a list in turn (PostgreSQL: 34.1.1.3). The driver would take the list for one name. */
function isList(hosts: string | null | undefined): boolean {
  return hosts?.includes(',') === true
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
