// @ts-check
// Prints the regular expressions of src/ that can take more than linear time, and then exits with status 1. With such an
// expression, one long text of a caller would stop the service.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { ts } from '@ts-morph/common'
import { check } from 'recheck'

/** For one expression. */
const LONGEST_MILLISECONDS = 60_000

const source = fileURLToPath(new URL('../src', import.meta.url))

/**
 * The value of a text, if it is known before the program runs.
 *
 * @param {ts.Expression | undefined} expression
 * @param {ReadonlyMap<string, ts.Expression>} constants
 * @returns {string | undefined}
 */
function textOf(expression, constants) {
  if (!expression) return ''
  if (ts.isStringLiteralLike(expression)) return expression.text
  if (ts.isIdentifier(expression)) {
    const constant = constants.get(expression.text)
    return constant && textOf(constant, constants)
  }
  if (!ts.isTemplateExpression(expression)) return undefined
  const parts = expression.templateSpans.map((span) => {
    const text = textOf(span.expression, constants)
    return text === undefined ? undefined : text + span.literal.text
  })
  return parts.includes(undefined) ? undefined : expression.head.text + parts.join('')
}

/**
 * The expressions of a file: literals, and calls of RegExp with constants.
 *
 * @param {string} path
 */
function expressionsIn(path) {
  const text = readFileSync(join(source, path), 'utf8')
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  /** @type {Map<string, ts.Expression>} */
  const constants = new Map()
  /** @type {{ place: string, pattern: string | undefined, flags: string | undefined }[]} */
  const found = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    const place = () => `src/${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && node.initializer)
      constants.set(node.name.text, node.initializer)
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      found.push({ place: place(), pattern: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    } else if (
      (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
      node.expression.getText() === 'RegExp'
    ) {
      const [pattern, flags] = node.arguments ?? []
      found.push({ place: place(), pattern: textOf(pattern, constants), flags: textOf(flags, constants) })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/**
 * Whether a text that the random tests found takes as long as they say. Where they stop depends on the time that they have,
 * so on a busy machine they also report linear expressions.
 *
 * @param {string} pattern
 * @param {string} flags
 * @param {string} text
 */
function isSlow(pattern, flags, text) {
  try {
    runInNewContext('new RegExp(pattern, flags).test(text)', { pattern, flags, text }, { timeout: 1_000 })
    return false
  } catch {
    return true
  }
}

const paths = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.[jt]s$/.test(path) && !path.startsWith(join('database', 'generated')),
)
/** @type {string[]} */
const problems = []
for (const { place, pattern, flags } of paths.flatMap(expressionsIn)) {
  if (pattern === undefined || flags === undefined) {
    problems.push(`${place}: the pattern must be a constant, so that it can be checked`)
    continue
  }
  // One after the other, so that its random tests are the same in each run.
  const result = await check(pattern, flags, { timeout: LONGEST_MILLISECONDS })
  if (result.status === 'safe') continue
  if (
    result.status === 'vulnerable' &&
    result.checker === 'fuzz' &&
    !isSlow(pattern, flags, result.attack.string)
  )
    continue
  const problem = result.status === 'vulnerable' ? result.complexity.summary : 'it could not be checked'
  problems.push(`${place}: ${problem}: ${pattern}`)
}
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)
