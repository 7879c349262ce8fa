import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import { createTestFolder, type Owner } from '../database/database.ts'
import type { Json } from '../service/client.ts'

/** The types of Kubernetes's OpenAPI document. */
const TYPES = resolve('node_modules/kubernetes-types')

const COMPILER = resolve('node_modules/.bin/tsc')

/** A folder for `kubectl apply -k`. */
export interface Kustomization {
  /** Its kustomization.yaml. */
  readonly settings: Json
  /** The files beside it, by name. */
  readonly manifests: Readonly<Record<string, Json>>
}

export async function readKustomization(folder: string): Promise<Kustomization> {
  const names = (await readdir(folder)).filter((name) => name !== 'kustomization.yaml')
  const read = async (name: string) => parse(await readFile(join(folder, name), 'utf8'))
  const manifests = await Promise.all(names.sort().map(async (name) => [name, await read(name)] as const))
  return { settings: await read('kustomization.yaml'), manifests: Object.fromEntries(manifests) }
}

/**
 * What is wrong with manifests, as TypeScript says of literals of the types of Kubernetes: fields that are unknown or
 * missing, and values of another type. Each problem begins with the name of the manifest.
 */
export async function schemaProblems(
  owner: Owner,
  manifests: Readonly<Record<string, Json>>,
): Promise<string[]> {
  const folder = await createTestFolder(owner)
  const files = Object.entries(manifests).map(
    ([name, manifest]) => [`${name}.ts`, program(manifest)] as const,
  )
  for (const [file, text] of files) await writeFile(join(folder, file), text)
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--pretty', 'false', '--types', '']
  const compiling = promisify(execFile)(COMPILER, [...options, ...files.map(([file]) => file)], {
    cwd: folder,
  })
  const { stdout } = await compiling.catch((error: { stdout: string }) => error)
  return stdout.split('\n').filter((line) => line !== '')
}

function program(manifest: Json): string {
  const [group, version = group] = String(manifest.apiVersion).split('/')
  const module = group === version ? 'core' : String(group).replace('.k8s.io', '')
  const path = JSON.stringify(join(TYPES, module, version as string))
  // One field a line, so that each has a problem of its own.
  return `import type { ${manifest.kind} } from ${path}
export const manifest: ${manifest.kind} = ${JSON.stringify(manifest, null, 1)}\n`
}
