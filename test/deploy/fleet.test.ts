import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import test from 'ava'
import { parse } from 'yaml'
import { healthRoutes } from '../../src/http/health.ts'
import { settingsTable } from '../../src/service/settings/settings-table.ts'
import { checkConfiguration } from '../helpers/process/haproxy.ts'
import type { Json } from '../helpers/service/client.ts'

const FILE = 'deploy/fleet/compose.yaml'

const { services } = parse(await readFile(FILE, 'utf8')) as Json
const proxy = await readFile('deploy/fleet/haproxy.cfg', 'utf8')

const run = promisify(execFile)

/** What the configuration of the proxy has after some words. */
const after = (words: string) => new RegExp(`^ *${words} (\\S+)`, 'm').exec(proxy)?.[1] ?? ''

test('HAProxy accepts the configuration of the fleet', async (t) => {
  const output = await checkConfiguration(t)
  if (output !== undefined) t.regex(output, /^Configuration file is valid$/m)
  t.notRegex(output ?? '', /warning/i)
})

test('Docker Compose accepts the fleet', async (t) => {
  const programs = [['docker', 'compose'], ['docker-compose']] as const
  const env = { ...process.env, JWT_SECRET: 'x', POSTGRES_PASSWORD: 'y' }
  for (const [program, ...parameters] of programs) {
    const isThere = await run(program, [...parameters, 'version']).then(
      () => true,
      () => false,
    )
    if (isThere) return t.notThrowsAsync(run(program, [...parameters, '-f', FILE, 'config'], { env }))
  }
  t.log('not tried: Docker Compose is not installed')
  t.pass()
})

test('the processes of the fleet can be scaled, start after the migration, and are reached only by the proxy', (t) => {
  const { halgraph, migrate, postgres, proxy: front } = services
  for (const name of ['ports', 'container_name']) t.false(name in halgraph, name)
  t.is(halgraph.depends_on.migrate.condition, 'service_completed_successfully')
  t.is(migrate.depends_on.postgres.condition, 'service_healthy')
  t.is(migrate.command, 'migrate')
  t.deepEqual([migrate.image, migrate.build], [halgraph.image, halgraph.build])
  t.false('ports' in postgres)
  for (const port of front.ports) t.true(port.startsWith('127.0.0.1:') && port.endsWith(after('bind')))
})

test('the fleet sets only settings of the service, with a grace for its stop and room for its connections', (t) => {
  const { environment, stop_grace_period: grace } = services.halgraph
  const names = [...Object.keys(environment), ...Object.keys(services.migrate.environment)]
  t.deepEqual(
    names.filter((name) => !(name in settingsTable)),
    [],
  )
  // A stop takes up to 3 s more than SHUTDOWN_SECONDS (docs/OPERATIONS.md#stopping).
  t.true(Number.parseInt(grace, 10) > Number(settingsTable.SHUTDOWN_SECONDS.default) + 3)
  const processes = Number(after('server-template halgraph-'))
  t.true(processes >= 3 && processes * (environment.DATABASE_POOL_SIZE + 1) < 100 - 3)
})

test('the proxy asks for readiness before an announced stop ends, and replaces the headers that the service trusts', (t) => {
  const [, ready] = healthRoutes(async () => {}, { isStopping: false }).map(({ path }) => path)
  t.is(after('http-check send meth GET uri'), ready as string)
  t.is(after('default-server check inter 250ms fall'), '2')
  t.is(after('server-template halgraph- \\d+'), `halgraph:${settingsTable.PORT.default}`)
  for (const name of ['X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Request-Id'])
    t.true(proxy.includes(`http-request set-header ${name} `), name)
  t.true(proxy.includes('http-request del-header X-Forwarded-Prefix'))
  t.true(proxy.includes('http-request return status 404 if { path /metrics }'))
})
