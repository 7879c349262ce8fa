import { readFile } from 'node:fs/promises'
// The compiler of TypeScript 7 has no interface for programs.
import { ts } from '@ts-morph/common'

/** An option of `defineResource`, as the comment of the type says. */
export interface ResourceOption {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly description: string
  readonly otherwise: string | undefined
  /** Members of the definition, in TypeScript. */
  readonly example: string | undefined
}

export interface ResourceGuide {
  readonly options: readonly ResourceOption[]
  /** Definitions, the last of which the examples of the options change. */
  readonly example: string
}

const SOURCE = new URL('../../src/model/definition/resource.ts', import.meta.url)

/** Reads what the comments of the type of a definition say. */
export async function readResourceGuide(): Promise<ResourceGuide> {
  const text = await readFile(SOURCE, 'utf8')
  const source = ts.createSourceFile(SOURCE.href, text, ts.ScriptTarget.Latest, true)
  const definition = source.statements
    .filter(ts.isInterfaceDeclaration)
    .find(({ name }) => name.text === 'ResourceDefinition')
  if (!definition) throw new TypeError('The type of definitions is not where it was')
  return {
    options: definition.members.filter(ts.isPropertySignature).map(optionOf),
    example: tagOf(definition, 'example') ?? '',
  }
}

function optionOf(member: ts.PropertySignature): ResourceOption {
  const [comment] = ts.getJSDocCommentsAndTags(member)
  return {
    name: member.name.getText(),
    type: (member.type?.getText() ?? '')
      .replaceAll(/readonly |<(?:NoInfer<Of>|Of)>/g, '')
      .replace(/^Of$/, 'Fields'),
    isRequired: member.questionToken === undefined,
    description: ts.getTextOfJSDocComment(comment?.comment) ?? '',
    otherwise: tagOf(member, 'default'),
    example: tagOf(member, 'example'),
  }
}

function tagOf(node: ts.Node, name: string): string | undefined {
  const tag = ts.getJSDocTags(node).find(({ tagName }) => tagName.text === name)
  return ts.getTextOfJSDocComment(tag?.comment)
}

/** The text of docs/RESOURCES.md. */
export function resourcesDocument({ options, example }: ResourceGuide): string {
  return `${[
    '# Resources',
    '`defineResource` of `halgraph/domain` makes a resource. `npm run docs` generates this page from the comments in ' +
      '`src/model/definition/resource.ts`, which editors show, too. The examples of the options change the second of these resources:',
    block(example),
    options.map(({ name }) => `[${name}](#${name.toLowerCase()})`).join(' · '),
    ...options.map(section),
  ].join('\n\n')}\n`
}

function section({ name, type, isRequired, description, otherwise, example }: ResourceOption): string {
  const necessity = isRequired ? 'required' : otherwise ? `by default, ${otherwise}` : 'optional'
  return [
    `## ${name}`,
    `\`${type}\`; ${necessity}`,
    description.replaceAll('\n', ' '),
    ...(example ? [block(example)] : []),
  ].join('\n\n')
}

function block(code: string): string {
  return `\`\`\`ts\n${code}\n\`\`\``
}
