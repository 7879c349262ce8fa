import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { ts } from '@ts-morph/common'
import test from 'ava'
import * as definition from '../../src/domain/definition.ts'
import type { Resource } from '../../src/model/definition/resource.ts'
import { definitionProblems } from '../../src/model/problems/definition-problems.ts'
import { type ResourceGuide, readResourceGuide, resourcesDocument } from '../../tools/docs/resources.ts'
import { createTestFolder } from '../helpers/database/database.ts'

const run = promisify(execFile)
const project = fileURLToPath(new URL('../../', import.meta.url))

test('docs/RESOURCES.md is generated from the comments of the type of definitions', async (t) => {
  t.is(await readFile('docs/RESOURCES.md', 'utf8'), resourcesDocument(await readResourceGuide()))
})

test('each option of a resource has a description and an example', async (t) => {
  const { options, example } = await readResourceGuide()
  t.true(options.length > 20)
  for (const option of options) {
    t.regex(option.description, /^\S.*\.$/s, option.name)
    t.regex(option.example ?? example, new RegExp(`\\b${option.name}: `), option.name)
  }
})

test('the examples of the options compile, and make valid resources', async (t) => {
  const guide = await readResourceGuide()
  const folder = await createTestFolder(t)
  const programs = programsOf(guide)
  for (const [name, program] of programs) await writeFile(join(folder, `${name}.ts`), program)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(CONFIGURATION))
  const compiler = join(project, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [compiler, '-p', folder]).catch(({ stdout }) => t.fail(stdout))
  for (const [name, program] of programs) {
    const resources = resourcesIn(program)
    t.true(resources.at(-1) !== undefined && name in (resources.at(-1) as Resource), name)
    t.deepEqual(definitionProblems({ resources }), [], name)
  }
})

const CONFIGURATION = {
  extends: join(project, 'tsconfig.json'),
  compilerOptions: {
    rootDir: '/',
    noUnusedLocals: false,
    typeRoots: [join(project, 'node_modules/@types')],
    paths: { 'halgraph/domain': [join(project, 'src/domain/definition.ts')] },
  },
  include: ['*.ts'],
}

/** For each option a program: the definitions of the guide, with the example of the option in the last one. */
function programsOf({ options, example }: ResourceGuide): Map<string, string> {
  const imports = `import { ${Object.keys(definition).join(', ')} } from 'halgraph/domain'`
  const start = example.lastIndexOf('defineResource({')
  const last = membersOf(example.slice(start + 'defineResource('.length, -1))
  return new Map(
    options.map((option) => {
      const members = new Map([...last, ...membersOf(`{${option.example ?? ''}}`)])
      const text = `${example.slice(0, start)}defineResource({ ${[...members.values()].join(',\n')} })`
      return [option.name, `${imports}\n${text}\n`]
    }),
  )
}

/** The members of an object literal, by their names. */
function membersOf(literal: string): Map<string, string> {
  const source = ts.createSourceFile('x.ts', `(${literal})`, ts.ScriptTarget.Latest, true)
  const members = new Map<string, string>()
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAssignment(node)) members.set(node.name.getText(), node.getText())
    else ts.forEachChild(node, visit)
  }
  visit(source)
  return members
}

function resourcesIn(program: string): Resource[] {
  const body = ts.transpile(program.replace(/^import.*$/m, '').replaceAll('export const', 'const'), {
    target: ts.ScriptTarget.ES2023,
  })
  const names = Object.keys(definition)
  return new Function(...names, `${body}; return [rooms, bookings]`)(...Object.values(definition))
}
