import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A command or a program of a guide, and what the guide says that it prints. */
export interface Step {
  readonly language: 'sh' | 'js' | 'ts'
  readonly code: string
  /** With `…` for what differs from time to time; undefined if the guide shows nothing. */
  readonly shown?: string
}

/** The address in guides, for that of the service that is tried. */
const ADDRESS = 'http://localhost:3000'

/** Separates the outputs of the steps. */
const END = '\x1e'

function readText(name: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`../../../docs/guides/${name}.md`, import.meta.url)), 'utf8')
}

/** The blocks of a language of a guide, such as `sql`. */
export async function readBlocks(name: string, language: string): Promise<string[]> {
  const blocks = (await readText(name)).matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))
  return [...blocks].map(([, text = '']) => text.trim())
}

/**
 * The steps of a guide: its blocks of these languages, each with the block of `text` that follows it directly.
 *
 * @param name of the file in docs/guides, without its ending
 */
export async function readGuide(
  name: string,
  languages: readonly Step['language'][] = ['sh', 'js'],
): Promise<Step[]> {
  const block = `^\`\`\`(${languages.join('|')})\\n(.*?)^\`\`\`\\n(?:\\n\`\`\`text\\n(.*?)^\`\`\`\\n)?`
  const blocks = (await readText(name)).matchAll(new RegExp(block, 'gms'))
  return [...blocks].map(([, language, code = '', shown]) => ({
    language: language as Step['language'],
    code,
    ...(shown !== undefined && { shown }),
  }))
}

/**
 * Runs the steps in one shell, in which `API`, `TOKEN` and `more` are set; each program in JavaScript is a process. Resolves to
 * what each has printed.
 *
 * @throws if a step fails, with what was printed
 */
export async function runSteps(
  steps: readonly Step[],
  folder: string,
  { origin, base, token }: { origin: string; base: string; token: string },
  more: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const commands = await Promise.all(
    steps.map(async ({ language, code }, index) => {
      if (language === 'sh') return code.replaceAll(ADDRESS, origin)
      const program = join(folder, `step-${index}.mjs`)
      await writeFile(program, code.replaceAll(ADDRESS, origin))
      return `node ${program}\n`
    }),
  )
  const script = join(folder, 'guide.sh')
  await writeFile(script, `set -euo pipefail\n${commands.map((code) => `${code}printf '\\x1e'\n`).join('')}`)
  const env = { ...process.env, API: base, TOKEN: token, ...more }
  const { stdout } = await run('bash', [script], { cwd: folder, env })
  return stdout.replaceAll('\r', '').replaceAll(origin, ADDRESS).split(END).slice(0, steps.length)
}

/** Whether a step has printed what its guide shows. */
export function isAsShown(printed: string, shown: string): boolean {
  const parts = shown
    .trim()
    .split('…')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*?')}$`, 's').test(printed.trim())
}
