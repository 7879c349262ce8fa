import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import test from 'ava'
import { healthRoutes } from '../../src/http/health.ts'
import { settingsTable } from '../../src/service/settings/settings-table.ts'
import { readKustomization, schemaProblems } from '../helpers/deploy/manifests.ts'
import { readBlocks } from '../helpers/process/guide.ts'
import type { Json } from '../helpers/service/client.ts'

const FOLDERS = ['deploy/kubernetes/migrate', 'deploy/kubernetes/service']

const [migrate, service] = (await Promise.all(FOLDERS.map(readKustomization))) as [Json, Json]
const { 'deployment.yaml': deployment, 'service.yaml': address } = service.manifests
const { 'autoscaler.yaml': autoscaler, 'disruption-budget.yaml': budget } = service.manifests
const { 'job.yaml': job } = migrate.manifests
const pods = [job.spec.template, deployment.spec.template]
const [container] = deployment.spec.template.spec.containers

/** A setting as the pods of the service get it. */
const settings: Json = Object.fromEntries(
  service.settings.configMapGenerator[0].literals.map((literal: string) => literal.split('=')),
)

/** What a process takes to stop besides SHUTDOWN_SECONDS (docs/OPERATIONS.md#stopping). */
const STOP_SECONDS = 3

test('each manifest has the fields of its kind, and no others', async (t) => {
  for (const { manifests } of [migrate, service]) t.deepEqual(await schemaProblems(t, manifests), [])
})

test('a misspelt field, a missing one and a value of another type are problems', async (t) => {
  const changed = (change: (manifest: Json) => void) => {
    const copy = structuredClone(deployment)
    change(copy)
    return copy
  }
  const problems = await schemaProblems(t, {
    misspelt: changed(({ spec }) => {
      spec.template.spec.containers[0].readinessProbe.periodSecond = 1
    }),
    missing: changed(({ spec }) => delete spec.selector),
    wrong: changed(({ spec }) => {
      spec.template.spec.terminationGracePeriodSeconds = '30'
    }),
  })
  t.is(problems.length, 3, problems.join('\n'))
  t.regex(problems.join('\n'), /^misspelt\.ts.*periodSecond/m)
  t.regex(problems.join('\n'), /^missing\.ts.*selector/m)
  t.regex(problems.join('\n'), /^wrong\.ts.*string/m)
})

test('kubectl renders both folders', async (t) => {
  for (const folder of FOLDERS) {
    try {
      const { stdout } = await promisify(execFile)('kubectl', ['kustomize', folder])
      t.regex(stdout, /image: registry\.example\.org\/halgraph:/)
      t.regex(stdout, /namespace: halgraph/)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      t.log('not tried: kubectl is not installed')
    }
  }
  t.pass()
})

test('each folder names all of its files, and the image of this version', async (t) => {
  const { version } = JSON.parse(await readFile('package.json', 'utf8'))
  for (const { settings, manifests } of [migrate, service]) {
    t.deepEqual(settings.resources, Object.keys(manifests))
    t.is(settings.images[0].name, 'halgraph')
    t.is(settings.images[0].newTag, version)
  }
  t.deepEqual(migrate.settings.images, service.settings.images)
  t.is(migrate.settings.namespace, service.settings.namespace)
  for (const { spec } of pods) t.is(spec.containers[0].image, 'halgraph')
})

test('each selector matches the pods of its component, and none of the other', (t) => {
  const selectors = [
    [service, deployment.spec.selector.matchLabels],
    [service, address.spec.selector],
    [service, budget.spec.selector.matchLabels],
    [service, service.manifests['network-policy.yaml'].spec.podSelector.matchLabels],
    ...deployment.spec.template.spec.topologySpreadConstraints.map((constraint: Json) => [
      service,
      constraint.labelSelector.matchLabels,
    ]),
    [migrate, migrate.manifests['network-policy.yaml'].spec.podSelector.matchLabels],
  ]
  const matches = (labels: Json, { metadata }: Json) =>
    Object.entries(labels).every(([name, value]) => metadata.labels[name] === value)
  for (const [owner, labels] of selectors) {
    t.deepEqual(
      pods.map((pod) => matches(labels, pod)),
      [owner === migrate, owner === service],
    )
  }
  const { kind, apiVersion, name } = autoscaler.spec.scaleTargetRef
  t.deepEqual([kind, apiVersion, name], [deployment.kind, deployment.apiVersion, deployment.metadata.name])
})

test('the ports are that of the service, and the probes ask its routes', async (t) => {
  const [{ name, containerPort }] = container.ports
  t.is(containerPort, settingsTable.PORT.default)
  t.regex(await readFile('Dockerfile', 'utf8'), new RegExp(`PORT=${containerPort}\\b`))
  t.is(address.spec.ports[0].targetPort, name)
  t.is(service.manifests['network-policy.yaml'].spec.ingress[0].ports[0].port, name)
  const [live, ready] = healthRoutes(async () => {}, { isStopping: false }).map(({ path }) => path)
  const { startupProbe, livenessProbe, readinessProbe } = container
  t.deepEqual(
    [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet),
    [live, live, ready].map((path) => ({ path, port: name })),
  )
  t.true(
    startupProbe.periodSeconds * startupProbe.failureThreshold >
      Number(settingsTable.DATABASE_START_SECONDS.default),
  )
})

test('a pod may take longer to end than preStop and a stop, and proxies close idle connections first', (t) => {
  const { terminationGracePeriodSeconds: grace } = deployment.spec.template.spec
  const { seconds } = container.lifecycle.preStop.sleep
  t.true(grace >= seconds + Number(settings.SHUTDOWN_SECONDS) + STOP_SECONDS)
  t.true(Number(settings.KEEP_ALIVE_SECONDS) > 60)
})

test('an update replaces pods one by one, and all together stay below 100 connections of a server', (t) => {
  const { maxSurge, maxUnavailable } = deployment.spec.strategy.rollingUpdate
  t.deepEqual([maxSurge, maxUnavailable], [1, 0])
  t.is(deployment.spec.replicas, undefined)
  t.true(budget.spec.maxUnavailable < autoscaler.spec.minReplicas)
  const connections = (autoscaler.spec.maxReplicas + maxSurge) * (Number(settings.DATABASE_POOL_SIZE) + 1)
  // PostgreSQL's default of max_connections is 100, of which superusers keep 3; the migration needs one.
  t.true(connections < 100 - 3)
})

test('pods comply with the standard `restricted` of Kubernetes, and cannot write but to /tmp', (t) => {
  for (const { spec } of pods) {
    t.like(spec.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    t.true(spec.securityContext.runAsUser > 0)
    t.is(spec.automountServiceAccountToken, false)
    const [{ securityContext, volumeMounts, resources }] = spec.containers
    t.deepEqual(securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    t.deepEqual(
      volumeMounts.map(({ mountPath }: Json) => mountPath),
      ['/tmp'],
    )
    for (const volume of spec.volumes) t.deepEqual(Object.keys(volume), ['name', 'emptyDir'])
    t.truthy(resources.requests.cpu && resources.requests.memory && resources.limits.memory)
  }
})

test('the manifests and the guide name only settings of the service, and the same Secrets', async (t) => {
  const isSetting = (name: string) => name in settingsTable
  t.deepEqual(
    Object.keys(settings).filter((name) => !isSetting(name)),
    [],
  )
  const steps = (await readBlocks('deployment', 'sh')).filter((text) => text.includes('kubectl'))
  const created = [...steps.join('\n').matchAll(/secret generic (\S+)((?:[^\n]*\\\n)*[^\n]*)/g)].map(
    ([, name, literals = '']) => [
      name,
      [...literals.matchAll(/--from-literal=(\w+)=/g)].map(([, key]) => key),
    ],
  )
  const [{ valueFrom, name }] = job.spec.template.spec.containers[0].env
  const [{ configMapRef }, { secretRef }] = container.envFrom
  t.is(configMapRef.name, service.settings.configMapGenerator[0].name)
  t.is(name, valueFrom.secretKeyRef.key)
  t.deepEqual(created, [
    [valueFrom.secretKeyRef.name, [name]],
    [secretRef.name, ['DATABASE_URL', 'JWT_SECRET']],
  ])
  t.true(created.flatMap(([, names]) => names as string[]).every(isSetting))
})
