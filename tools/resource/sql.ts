import type { Step } from './changes/step.ts'

/** The longest line of a comment. */
const WIDTH = 116

/** The text of a migration: statements, each with a comment. */
export function migrationSql(steps: readonly Step[], warnings: readonly string[] = []): string {
  const parts = steps.map(({ says, sql }) =>
    [...(says ? wrapped(says) : []), ...sql.map((statement) => `${statement};`)].join('\n'),
  )
  return `${[...warnings.map((warning) => wrapped(`WARNING: ${warning}`).join('\n')), ...parts].join('\n\n')}\n`
}

function wrapped(text: string): string[] {
  const lines = ['--']
  for (const word of text.split(/\s+/)) {
    if (`${lines.at(-1)} ${word}`.length > WIDTH) lines.push('--')
    lines.push(`${lines.pop()} ${word}`)
  }
  return lines
}
