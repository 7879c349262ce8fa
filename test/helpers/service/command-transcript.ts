import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { createSetup, runIn } from './commands.ts'
import { claimResults, GENERATED, withoutChance } from './transcript.ts'

/**
 * Claims that commands print what a file says after each group of actions: their exit status, and the lines of their output,
 * those of the error output with `!`.
 *
 * The actions: `write <file> <text>` (with `\n` and `\t`), `sql <statement>` (in the database of the commands),
 * `set <name>=<value>` (a setting of the commands that follow in the group), `show <file>`, and any command of the
 * executable. All begin in one folder.
 */
export async function claimCommands(t: ExecutionContext, file: string): Promise<void> {
  const { environment, folder, use } = await createSetup(t)
  await claimResults(t, file, async (actions) => {
    const results: string[] = []
    const settings: NodeJS.ProcessEnv = { ...environment }
    for (const action of actions) {
      const [, verb = '', rest = ''] = /^([\w-]+) ?(.*)$/.exec(action) ?? []
      const [name = '', text = ''] = rest.split(/[ =](.*)/s)
      if (verb === 'write') await writeFile(join(folder, name), unescaped(text))
      else if (verb === 'sql') await use(({ client }) => client.prisma.$executeRawUnsafe(rest))
      else if (verb === 'set') settings[name] = text
      else if (verb === 'show') results.push(...linesOf(await readFile(join(folder, name), 'utf8')))
      else {
        const { status, output, errors } = await runIn(
          folder,
          verb,
          settings,
          ...rest.split(' ').filter(Boolean),
        )
        results.push(`exit ${status}`, ...linesOf(output), ...linesOf(errors).map((line) => `! ${line}`))
      }
    }
    return results.map((line) => plain(line, folder, environment['DATA_DIR']))
  })
}

function unescaped(text: string): string {
  return text.replaceAll('\\n', '\n').replaceAll('\\t', '\t')
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

function plain(line: string, folder: string, dataDir: string | undefined): string {
  return withoutChance(line)
    .replaceAll(folder, '(folder)')
    .replaceAll(dataDir ?? folder, '(data)')
    .replaceAll(GENERATED, '(uuid)')
    .replaceAll(/(server|session): [^"]*/g, '$1: …')
    .replaceAll(/(timeout) \d+(?:min)?/g, '$1 …')
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '(token)')
}
