import { execFile } from 'node:child_process'
import { chown } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { createTestFolder } from '../helpers/database/database.ts'
import { createOwnServer, findPrograms } from '../helpers/database/own-server.ts'
import { createDatabaseOn } from '../helpers/database/postgres-server.ts'
import { runCommand } from '../helpers/service/commands.ts'
import { startProcess } from '../helpers/service/service-process.ts'

const run = promisify(execFile)
const programs = await findPrograms((reason) => console.log(`TLS: ${reason}`))
const hasOpenssl = await run('openssl', ['version']).then(
  () => true,
  () => false,
)
if (!hasOpenssl) console.log('TLS: not tried: openssl is not installed')
const claim = programs && hasOpenssl ? test : test.skip

/** The certificate of an authority, and the certificate and the key that it has given to a server on localhost. */
async function createCertificates(folder: string) {
  const file = (name: string) => join(folder, name)
  const openssl = (...parameters: string[]) => run('openssl', parameters)
  const created = ['req', '-newkey', 'rsa:2048', '-nodes', '-subj']
  const [authority, key, certificate] = ['ca.pem', 'server.key', 'server.pem'].map(file) as [
    string,
    string,
    string,
  ]
  await openssl(...created, '/CN=private', '-x509', '-keyout', file('ca.key'), '-out', authority)
  await openssl(...created, '/CN=localhost', '-keyout', key, '-out', file('server.csr'))
  const signed = ['-CA', authority, '-CAkey', file('ca.key'), '-CAcreateserial', '-out', certificate]
  await openssl('x509', '-req', '-in', file('server.csr'), ...signed)
  return { authority, key, certificate }
}

claim(
  'sslmode has the meaning of libpq: a server of a private authority is verified, without a warning',
  async (t) => {
    const { folder, identity } = programs as NonNullable<typeof programs>
    const own = await createTestFolder(t)
    const { authority, key, certificate } = await createCertificates(own)
    const { authority: another } = await createCertificates(await createTestFolder(t))
    if (identity.uid !== undefined && identity.gid !== undefined)
      for (const path of [own, key, certificate]) await chown(path, identity.uid, identity.gid)
    const settings = ['ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`]
    const { address } = await createOwnServer(t, { folder, identity }, settings)
    const database = new URL(await createDatabaseOn(address, t))
    const at = (host: string, parameters: Record<string, string>) => {
      const url = new URL(database)
      url.hostname = host
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
      return { DATABASE_URL: url.href, DATABASE_START_SECONDS: '0' }
    }
    const doctor = (host: string, parameters: Record<string, string>) =>
      runCommand('doctor', at(host, parameters))

    const service = startProcess(at('localhost', { sslmode: 'verify-full', sslrootcert: authority }), t)
    t.regex(await service.origin, /^http/)
    t.notRegex(service.output(), /warn/i)
    for (const [host, sslmode, sslrootcert] of [
      ['localhost', 'verify-full', authority],
      // The certificate names another host.
      ['127.0.0.1', 'verify-ca', authority],
      ['127.0.0.1', 'require', authority],
    ] as const) {
      const { status, output, errors } = await doctor(host, { sslmode, sslrootcert })
      t.is(status, 0, output + errors)
      t.notRegex(output + errors, /warn/i)
    }
    t.is((await doctor('127.0.0.1', { sslmode: 'require' })).status, 0)
    for (const [host, sslmode, sslrootcert, reason] of [
      ['localhost', 'verify-full', another, /cannot be reached: .*certificate/],
      ['localhost', 'verify-ca', another, /cannot be reached: .*certificate/],
      ['127.0.0.1', 'verify-full', authority, /cannot be reached: .*(?:altnames|IP)/],
    ] as const) {
      const refused = startProcess(at(host, { sslmode, sslrootcert }), t)
      await t.throwsAsync(refused.origin, { message: reason })
      t.notRegex(refused.output(), /\n\s+at /)
    }
  },
)
