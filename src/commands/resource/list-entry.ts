import { CommandError } from '../command.ts'
import { constantOf } from './scaffold.ts'

/** Of the formatter. */
const LINE_WIDTH = 110

/**
 * The list of resources with one more at its end, formatted like the rest of the project.
 *
 * @param text of `index.ts`
 * @throws {CommandError} if the list is not an array of names
 */
export function withEntry(text: string, path: string): string {
  const name = constantOf({ path })
  const found = /^( *)((?:\w+: )?)resources(: \[| = \[)([\w\s,]*)\](,?)$/m.exec(text)
  if (!found) {
    throw new CommandError(
      `index.ts has no list of names \`resources: […]\`. Add ${name} to its list by hand.`,
    )
  }
  const [whole, indent = '', prefix = '', opening = '', entries = '', end = ''] = found
  const names = [
    ...entries
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== ''),
    name,
  ]
  const line = `${indent}${prefix}resources${opening}${names.join(', ')}]${end}`
  const lines = [
    `${indent}${prefix}resources${opening}`,
    ...names.map((entry) => `${indent}  ${entry},`),
    `${indent}]${end}`,
  ].join('\n')
  return withImport(text.replace(whole, line.length <= LINE_WIDTH ? line : lines), name, path)
}

/** Imports are sorted by their modules. */
function withImport(text: string, name: string, path: string): string {
  const line = `import { ${name} } from './${path}.ts'\n`
  const imports = [...text.matchAll(/^import .* from '([^']+)'\n/gm)]
  const next = imports.find(([, module = '']) => module.startsWith('./') && module > `./${path}.ts`)
  const last = imports.at(-1)
  const place = next ? next.index : last ? last.index + last[0].length : 0
  return `${text.slice(0, place)}${line}${text.slice(place)}`
}
