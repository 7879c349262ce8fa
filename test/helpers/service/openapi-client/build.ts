import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ExecutionContext } from 'ava'

const run = promisify(execFile)
const modules = new URL('../../../../node_modules/', import.meta.url)

/** Generates the client types of an OpenAPI document, and compiles a program with them; its type errors fail the test. */
export async function buildClient(
  t: ExecutionContext,
  folder: string,
  document: string,
  program: string,
): Promise<void> {
  const hook = `--import=${new URL('typescript-hook.mjs', import.meta.url).href}`
  const generator = fileURLToPath(new URL('openapi-typescript/bin/cli.js', modules))
  await run(process.execPath, [hook, generator, document, '-o', join(folder, 'generated.d.ts')])
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  const configuration = { compilerOptions: OPTIONS, files: [program] }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(configuration))
  const compiler = fileURLToPath(new URL('typescript/bin/tsc', modules))
  await run(process.execPath, [compiler, '-p', folder]).catch(({ stdout }) => t.fail(stdout))
}

const OPTIONS = {
  target: 'es2023',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  types: ['node'],
}
