import { execFile } from 'node:child_process'
import { access, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import test from 'ava'
import { parse } from 'yaml'
import { settingsTable } from '../src/service/settings/settings-table.ts'
import type { Json } from './helpers/service/client.ts'
import { startTestService } from './helpers/service/service.ts'

/** All strings below a value with this key, as in the `expr` of alerts and of panels. */
function textsOf(value: unknown, key: string): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === key ? [String(inner)] : textsOf(inner, key),
  )
}

async function readDocument(path: string) {
  return parse(await readFile(path, 'utf8'))
}

test('alerts and dashboard use only metrics that the service serves', async (t) => {
  const { anonymous, reader, origin } = await startTestService(t, { metrics: true })
  await reader.get('/species')
  const { text } = await anonymous.get(`${origin}/metrics`)
  // A metric without values has no line of its own, such as those of replicas.
  const served = new Set(text.match(/(?<=^# TYPE )\w+|^\w+/gm))
  const rules = textsOf(await readDocument('deploy/prometheus/alerts.yml'), 'expr')
  const panels = textsOf(JSON.parse(await readFile('deploy/grafana/halgraph.json', 'utf8')), 'expr')
  t.true(rules.length > 5 && panels.length > 5)
  const names = [...rules, ...panels].flatMap(
    (text) => text.match(/\b(?:halgraph|nodejs|process)_\w+/g) ?? [],
  )
  // A histogram without values, such as that of collections of garbage, has the line of its type only.
  t.deepEqual(
    names.filter((name) => !served.has(name) && !served.has(name.replace(/_(?:sum|count|bucket)$/, ''))),
    [],
  )
  for (const [, label] of [...rules, ...panels].join().matchAll(/[{,] ?(\w+)(?:=|!)/g))
    t.true(label === 'job' || text.includes(`${label}="`), label)
})

test('compose.yaml sets only settings of the service, and does not publish it beyond this machine', async (t) => {
  const { services } = await readDocument('compose.yaml')
  const { environment, ports } = services.halgraph
  t.deepEqual(
    Object.keys(environment).filter((name) => !(name in settingsTable)),
    [],
  )
  for (const port of [...ports, ...services.prometheus.ports, ...services.grafana.ports])
    t.true(port.startsWith('127.0.0.1:'))
  t.is(services.pgbouncer.environment.POOL_MODE, 'transaction')
  for (const { volumes = [] } of Object.values(services) as { volumes?: string[] }[])
    for (const volume of volumes)
      if (volume.startsWith('./')) await t.notThrowsAsync(access(volume.split(':')[0] as string), volume)
})

test('the nodes of YugabyteDB join one that exists, are of one version, and are for this machine only', async (t) => {
  // Parsed as Compose does, with the merge keys of YAML 1.1.
  const text = await readFile('deploy/yugabyte/compose.yaml', 'utf8')
  const { services, volumes } = parse(text, { merge: true })
  const nodes = Object.entries<Record<string, Json>>(services)
  t.is(nodes.length, 3)
  t.regex(nodes[0]?.[1]['image'], /:2025\.2\.\d+\.\d+-b\d+$/)
  for (const [name, node] of nodes) {
    const { image, hostname, command, environment, depends_on, ports, volumes: mounts } = node
    t.deepEqual([image, hostname], [nodes[0]?.[1]['image'], name])
    t.true(command[2].includes('--base_dir=/home/yugabyte/yb_data'))
    const joined = environment?.JOIN.replace('--join=', '')
    t.true(name === nodes[0]?.[0] ? joined === undefined : joined in services, joined)
    for (const needed of Object.keys(depends_on ?? {})) t.true(needed in services)
    for (const port of ports) t.true(port.startsWith('127.0.0.1:'))
    for (const mount of mounts) t.true(mount.split(':')[0] in volumes)
  }
})

test('the nodes of Citus are of one version, at the addresses that the coordinator is told', async (t) => {
  const text = await readFile('deploy/citus/compose.yaml', 'utf8')
  const { services, volumes } = parse(text, { merge: true })
  const { nodes, ...servers } = services as Record<string, Json>
  const ports = Object.values<Json>(servers).map(({ environment }) => environment.PGPORT)
  const told = [...nodes.command.join(' ').matchAll(/'127\.0\.0\.1', (\d+)/g)].map(([, port]) => Number(port))
  t.deepEqual(told, ports)
  for (const { image, command, volumes: mounts } of Object.values<Json>(servers)) {
    t.deepEqual([image, mounts.length], [nodes.image, 1])
    t.true(command.includes('listen_addresses=127.0.0.1'))
    t.true(mounts[0].split(':')[0] in volumes)
  }
})

test('the Dockerfile copies what exists or is built, and .dockerignore leaves it in', async (t) => {
  const dockerfile = await readFile('Dockerfile', 'utf8')
  const ignored = (await readFile('.dockerignore', 'utf8')).trim().split('\n')
  const copied = [...dockerfile.matchAll(/^COPY --from=build \/app\/(\S+)/gm)].map(
    ([, path]) => path as string,
  )
  t.true(copied.includes('dist'))
  for (const path of copied.filter((path) => path !== 'dist' && path !== 'node_modules')) {
    await t.notThrowsAsync(access(path), path)
    t.false(ignored.includes(path), path)
  }
})

test('promtool accepts the alerts, and they fire when they should', async (t) => {
  try {
    await promisify(execFile)('promtool', ['test', 'rules', 'deploy/prometheus/alerts.test.yml'])
    await promisify(execFile)('promtool', ['check', 'config', 'deploy/prometheus/prometheus.yml'])
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    t.log('skipped: promtool is not installed')
  }
  t.pass()
})

test('every alert has a test in which it fires', async (t) => {
  const { groups } = await readDocument('deploy/prometheus/alerts.yml')
  const { tests } = await readDocument('deploy/prometheus/alerts.test.yml')
  const fired = new Set<string>()
  for (const { alert_rule_test: cases } of tests)
    for (const { alertname, exp_alerts: expected = [] } of cases)
      if (expected.length > 0) fired.add(alertname)
  const names = groups.flatMap(({ rules }: { rules: { alert: string }[] }) => rules.map(({ alert }) => alert))
  t.deepEqual([...fired].sort(), names.sort())
})

test('the workflows, the unit and the provisioning of Grafana can be parsed', async (t) => {
  const { jobs } = await readDocument('.github/workflows/test.yml')
  t.deepEqual(jobs.test.strategy.matrix.node, [22, 24])
  const [{ uid }] = (await readDocument('deploy/grafana/datasources.yml')).datasources
  const dashboard = JSON.parse(await readFile('deploy/grafana/halgraph.json', 'utf8'))
  for (const { datasource } of dashboard.panels) t.is(datasource.uid, uid)
  const [{ options }] = (await readDocument('deploy/grafana/dashboards.yml')).providers
  t.true((await readFile('compose.yaml', 'utf8')).includes(`${options.path}/halgraph.json`))
})
