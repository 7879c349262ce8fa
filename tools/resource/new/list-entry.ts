import { camelCase } from '../../../src/graph/names.ts'
import { CommandError } from '../../../src/service/command.ts'

/** The setting of the formatter. */
const LINE_WIDTH = 110

/**
 * Adds a resource to the end of the list, formatted like the rest of the project.
 *
 * @param text of `index.ts`
 * @throws {CommandError} if the list is not an array of names
 */
export function withEntry(text: string, path: string): string {
  const name = camelCase(path)
  const found = LIST.exec(text)
  if (!found) {
    throw new CommandError(
      `index.ts has no list of names \`resources: […]\`. Add ${name} to its list by hand.`,
    )
  }
  const [whole, before = '', opening = '', entries = '', after = ''] = found
  const names = entries.split(',').map((entry) => entry.trim())
  const list = [...names.filter((entry) => entry !== ''), name]
  return withImport(
    text.replace(whole, () => formatted(before, opening, list, after)),
    name,
    path,
  )
}

/** The line with the list: what precedes it, its name, its entries, and what follows. */
const LIST = /^(.*?)(\bresources(?:: | = )\[)([\w\s,]*)(\].*)$/m

/** On one line if it fits. Otherwise, first the members of the object and then the names get lines of their own. */
function formatted(before: string, opening: string, names: readonly string[], after: string): string {
  const line = `${before}${opening}${names.join(', ')}${after}`
  if (line.length <= LINE_WIDTH) return line
  if (before.endsWith('{ '))
    return `${before.trimEnd()}\n${formatted('  ', opening, names, '],')}\n${after.replace(/^\],? /, '')}`
  const indent = /^ */.exec(before)?.[0] ?? ''
  return [before + opening, ...names.map((name) => `${indent}  ${name},`), indent + after].join('\n')
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
