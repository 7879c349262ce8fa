import { type Resource, tableName } from '../../../src/model/definition/resource.ts'
import { openRenames, renamedResource } from '../changes/former.ts'
import { type Model, type ModelField, makeModel } from './models.ts'

const BEGIN =
  '// Generated from the definitions by `npm run resource -- migrate`, except for the comments. Other models come below.'
const END = '// End of the generated models.'

/** A model in the text of a Prisma schema. */
interface WrittenModel {
  readonly name: string
  readonly table: string
  /** With the comments above it. */
  readonly text: string
  readonly comments: readonly string[]
  readonly lines: readonly string[]
}

const MODEL = /^((?:[ \t]*(?:\/\/.*)?\n)*)model (\w+) \{\n([\s\S]*?)^\}\n*/gm

/**
 * Writes the models of these resources between two marks. Comments stay above the model or line that follows them. Other
 * models, and fields and attributes for them in generated models, stay as they are.
 *
 * @param unchanged the tables whose models stay as they are, with the relations of others to them
 */
export function updatedSchema(
  schema: string,
  resources: readonly Resource[],
  unchanged: ReadonlySet<string> = new Set(),
): string {
  const [top, inside, bottom] = parts(schema)
  const byHand = [...modelsIn(top), ...modelsIn(bottom)]
  const written = [...byHand, ...modelsIn(inside)]
  const tables = new Set([...resources.flatMap(tablesOf), ...unchanged])
  const isOurs = ({ table }: WrittenModel) => tables.has(table)
  const others = new Set(byHand.filter((model) => !isOurs(model)).map(({ name }) => name))
  const isUnchanged = (tables: readonly string[]) => tables.some((table) => unchanged.has(table))
  const [stay, changed] = [
    written.filter(({ table }) => unchanged.has(table)),
    resources.filter((resource) => !isUnchanged(tablesOf(resource))),
  ]
  for (const { name } of stay) others.add(name)
  const renames = openRenames(resources.map(renamedResource), (name) =>
    written.some(({ table }) => table === name),
  )
  const models = changed.map((resource) => {
    const name = tableName(resource.path)
    const existing = written.find(({ table }) => table === (renames.get(name) ?? name))
    const model = makeModel(resource, resources)
    const relations = model.relations.filter(([, type]) =>
      changed.some(({ name }) => name === /^\w+/.exec(type)?.[0]),
    )
    return printModel({ ...model, relations }, existing, others)
  })
  const rest = (text: string) =>
    modelsIn(text).reduce((left, model) => (isOurs(model) ? left.replace(model.text, () => '') : left), text)
  return [
    rest(top).trimEnd(),
    BEGIN,
    ...models,
    ...stay.map(({ text }) => text.trim()),
    END,
    rest(bottom).trim(),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
    .concat('\n')
}

/** The current and the former name of the table. */
function tablesOf({ path, renamedFrom = path }: Resource): string[] {
  return [tableName(path), tableName(renamedFrom)]
}

/** The text above, between and below the marks. Without marks, the first model begins the part below. */
function parts(schema: string): [string, string, string] {
  const [begin, end] = [schema.indexOf(BEGIN), schema.indexOf(END)]
  if (begin >= 0 && end >= 0)
    return [schema.slice(0, begin), schema.slice(begin + BEGIN.length, end), schema.slice(end + END.length)]
  const first = schema.search(MODEL)
  return first < 0 ? [schema, '', ''] : [schema.slice(0, first), '', schema.slice(first)]
}

function modelsIn(text: string): WrittenModel[] {
  return [...text.matchAll(MODEL)].map(([whole, comments = '', name = '', body = '']) => ({
    name,
    table: /@@map\("(\w+)"\)/.exec(body)?.[1] ?? name,
    text: whole,
    comments: comments.trim() === '' ? [] : comments.trim().split('\n'),
    lines: body.split('\n').map((line) => line.trim()),
  }))
}

function printModel(model: Model, existing: WrittenModel | undefined, others: ReadonlySet<string>): string {
  const lines = existing?.lines ?? []
  const comments = commentsByLine(lines)
  const commented = (line: string) => [...(comments.get(keyOf(line)) ?? []), line]
  const [attributes, fields] = [model.attributes.map((attribute) => `@@${attribute}`), [] as string[]]
  for (const line of lines)
    if (isOther(line, others)) (line.startsWith('@@') ? attributes : fields).push(line)
  const blocks = [
    printFields(model.columns, comments),
    [...printFields(model.relations, comments), ...fields.flatMap(commented)],
    [...attributes.flatMap(commented), ...(comments.get(END_OF_MODEL) ?? [])],
  ]
  const body = blocks
    .filter((block) => block.length > 0)
    .map((block) => block.map((line) => `  ${line}\n`).join(''))
  return [...(existing?.comments ?? []), `model ${model.name} {`, `${body.join('\n')}}`].join('\n')
}

/** Aligned like the output of `prisma format`. */
function printFields(fields: readonly ModelField[], comments: ReadonlyMap<string, readonly string[]>) {
  const [names, types] = [width(fields, 0), width(fields, 1)]
  return fields.flatMap(([name, type, attributes]) => [
    ...(comments.get(name) ?? []),
    `${name.padEnd(names)} ${type.padEnd(types)} ${attributes}`.trimEnd(),
  ])
}

function width(fields: readonly ModelField[], place: 0 | 1): number {
  return Math.max(0, ...fields.map((field) => field[place].length))
}

const END_OF_MODEL = '}'

/** The comments above each line and at the end, by {@link keyOf}. */
function commentsByLine(lines: readonly string[]): Map<string, string[]> {
  const comments = new Map<string, string[]>()
  let above: string[] = []
  for (const line of lines) {
    if (line.startsWith('//')) above.push(line)
    else if (line !== '') {
      if (above.length > 0) comments.set(keyOf(line), above)
      above = []
    }
  }
  comments.set(END_OF_MODEL, above)
  return comments
}

/** Whether a line was written by hand: a field of another model, or an attribute that is not generated. */
function isOther(line: string, others: ReadonlySet<string>): boolean {
  if (line === '' || line.startsWith('//')) return false
  if (line.startsWith('@@')) return !/^@@(id|unique|index|map)\(/.test(line) || line.includes('map:')
  return others.has(/^\w+\s+(\w+)/.exec(line)?.[1] ?? '')
}

/** The name of a field, or the whole line of an attribute. */
function keyOf(line: string): string {
  return line.startsWith('@@') ? line : (line.split(/\s/)[0] as string)
}
