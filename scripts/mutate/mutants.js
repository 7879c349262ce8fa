// @ts-check
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ts } from '@ts-morph/common'
import { describe } from './mutant.js'
import { findSqlMutants, isSql, sqlFaults } from './sql.js'

/** @import { Copy } from './copy.js' */
/** @import { Fault, Mutant } from './mutant.js' */

const { SyntaxKind } = ts

/** @type {Partial<Record<import('@ts-morph/common').ts.SyntaxKind, string>>} */
const OPERATORS = {
  [SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [SyntaxKind.LessThanToken]: '<=',
  [SyntaxKind.LessThanEqualsToken]: '<',
  [SyntaxKind.GreaterThanToken]: '>=',
  [SyntaxKind.GreaterThanEqualsToken]: '>',
  [SyntaxKind.PlusToken]: '-',
  [SyntaxKind.MinusToken]: '+',
  [SyntaxKind.AsteriskToken]: '/',
  [SyntaxKind.SlashToken]: '*',
  [SyntaxKind.PercentToken]: '*',
  [SyntaxKind.AmpersandAmpersandToken]: '||',
  [SyntaxKind.BarBarToken]: '&&',
}

/** Methods that return a value of the type they are called on, so that a call can be left out. */
const TRANSFORMATIONS =
  /^(filter|reverse|slice|sort|toSorted|trim|trimStart|trimEnd|toLowerCase|toUpperCase|replace|replaceAll)$/

/**
 * All faults that can be made below these paths: in TypeScript, in the scripts of pages, and in the SQL of the engine.
 *
 * @param {Copy} copy
 * @param {readonly string[]} paths
 * @returns {Mutant[]}
 */
export function findMutants(copy, paths) {
  const isWanted = (/** @type {string} */ file) =>
    paths.some((path) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`))
  const programs = copy.files.filter((file) => /^src\/.*\.(ts|js)$/.test(file) && !file.endsWith('.d.ts'))
  const inPrograms = programs.filter(isWanted).flatMap((file) => {
    const text = readFileSync(join(copy.folder, file), 'utf8')
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
    return [...faultsOf(source, source)].map((fault) => describe(file, text, fault))
  })
  return [...inPrograms, ...findSqlMutants(copy).filter(({ file }) => isWanted(file))]
}

/** @typedef {import('@ts-morph/common').ts.Node} Node */

/**
 * The faults of a node and everything in it.
 *
 * @param {Node} node
 * @param {import('@ts-morph/common').ts.SourceFile} source
 * @returns {Generator<Fault>}
 */
function* faultsOf(node, source) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return
  for (const text of textsOf(node, source)) {
    if (text !== undefined) yield { start: node.getStart(source), end: node.getEnd(), text }
  }
  if (ts.isTemplateLiteralToken(node) && isSql(node.getText(source))) {
    const from = node.getStart(source)
    // V8 measures a template as a whole.
    for (const { start, end, text } of sqlFaults(node.getText(source)))
      yield { start: from + start, end: from + end, text, from }
  }
  for (const child of node.getChildren(source)) yield* faultsOf(child, source)
}

/**
 * What a node may be replaced by.
 *
 * @param {Node} node
 * @param {import('@ts-morph/common').ts.SourceFile} source
 * @returns {Generator<string | undefined>}
 */
function* textsOf(node, source) {
  const text = (/** @type {Node} */ part) => part.getText(source)
  /** @param {readonly Node[]} all @param {Node} left */
  const others = (all, left) => all.flatMap((one) => (one === left ? [] : [text(one)])).join(', ')
  if (ts.isBinaryExpression(node)) yield* binaryTexts(node, text)
  else if (node.kind === SyntaxKind.TrueKeyword) yield 'false'
  else if (node.kind === SyntaxKind.FalseKeyword) yield 'true'
  else if (ts.isNumericLiteral(node))
    yield Number(node.text) > 10 ? `(${text(node)} * 2)` : `(${text(node)} + 1)`
  else if (ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken)
    yield text(node.operand)
  else if (ts.isConditionalExpression(node)) {
    yield `(${text(node.whenTrue)})`
    yield `(${text(node.whenFalse)})`
  } else if (ts.isIfStatement(node)) {
    yield `if (!(${text(node.expression)}))${text(node).slice(node.thenStatement.getFullStart() - node.getStart(source))}`
    if (!node.elseStatement) yield ''
  } else if (ts.isExpressionStatement(node)) yield ';'
  else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
    if (TRANSFORMATIONS.test(node.expression.name.text)) yield text(node.expression.expression)
    if (node.expression.name.text === 'some') yield text(node).replace(/\.some\(/, '.every(')
    if (node.expression.name.text === 'every') yield text(node).replace(/\.every\(/, '.some(')
  }
  if (ts.isObjectLiteralExpression(node))
    for (const left of node.properties) yield `{ ${others(node.properties, left)} }`
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 1)
    for (const left of node.elements) yield `[${others(node.elements, left)}]`
}

/**
 * @param {import('@ts-morph/common').ts.BinaryExpression} node
 * @param {(part: Node) => string} text
 * @returns {Generator<string>}
 */
function* binaryTexts(node, text) {
  const { left, right, operatorToken } = node
  const operator = OPERATORS[operatorToken.kind]
  if (operator) yield `${text(left)} ${operator} ${text(right)}`
  if (/^(\?\?|&&|\|\|)$/.test(text(operatorToken))) {
    yield `(${text(left)})`
    yield `(${text(right)})`
  }
}
