import type { Page } from 'playwright-core'

/**
 * What a page tells assistive technology of an element: a line for each part, indented as it is nested, with its role, name,
 * state, the target of a link (`→`), the bounds of a control and its value (`=`) or options (`*`: the chosen one), what a chart
 * was asked to draw, and the description. What is hidden has no line, nor has what only names or describes a control. The cells
 * of a row share a line (`|`), as do a term and its definition, and short items.
 */
export async function pageOutline(page: Page, selector: string): Promise<string> {
  const session = await page.context().newCDPSession(page)
  const { root } = await session.send('DOM.getDocument', { depth: -1 })
  const { nodeId } = await session.send('DOM.querySelector', { nodeId: root.nodeId, selector })
  const { nodes } = await session.send('Accessibility.getFullAXTree')
  await session.detach()
  const elements = new Map(elementsOf(root).map((element) => [element.backendNodeId, element]))
  const start = nodes.find(({ backendDOMNodeId: id = 0 }) => elements.get(id)?.nodeId === nodeId)
  if (!start) return '(hidden)'
  const isOf = new Map(nodes.map((node) => [node.nodeId, node]))
  const part = partFrom(start, (id) => isOf.get(id), elements)
  const query = `(${CHARTS})(document.querySelector(${JSON.stringify(selector)}))`
  const charts = (await page.evaluate(query)) as string[]
  const describing = [...elements.values()].flatMap((one) => attributesOf(one)['aria-describedby'] ?? [])
  const origin = new URL(page.url()).origin
  return linesOf([part], { charts, origin, describing: new Set(describing.join(' ').split(' ')) }).join('\n')
}

interface Element {
  readonly nodeId: number
  readonly backendNodeId: number
  readonly localName: string
  /** Names and values in turn. */
  readonly attributes?: readonly string[]
  readonly children?: readonly Element[]
}

const elementsOf = (element: Element): readonly Element[] => [
  element,
  ...(element.children ?? []).flatMap(elementsOf),
]

function attributesOf({ attributes = [] }: Element): Readonly<Record<string, string>> {
  const pairs = attributes.map((name, index) => [name, attributes[index + 1] ?? ''])
  return Object.fromEntries(pairs.filter((_, index) => index % 2 === 0))
}

interface Said {
  readonly value?: unknown
}

interface Node extends Readonly<Partial<Record<'role' | 'name' | 'description' | 'value', Said>>> {
  readonly nodeId: string
  readonly ignored: boolean
  readonly properties?: readonly { readonly name: string; readonly value: Said }[]
  readonly childIds?: readonly string[]
  readonly backendDOMNodeId?: number
}

/** A node of the accessibility tree with its element. */
interface Part {
  readonly role: string
  readonly name: string
  /** In parentheses. */
  readonly description: string
  readonly value: string
  readonly properties: Readonly<Record<string, unknown>>
  /** The name of the element; empty for a text. */
  readonly tag: string
  readonly attributes: Readonly<Record<string, string>>
  readonly parts: readonly Part[]
}

function partFrom(
  node: Node,
  nodeOf: (id: string) => Node | undefined,
  elements: ReadonlyMap<number, Element>,
): Part {
  const element = elements.get(node.backendDOMNodeId ?? 0)
  const description = shown(node.description)
  const children = (node.childIds ?? []).flatMap((id) => nodeOf(id) ?? [])
  return {
    role: node.ignored ? 'none' : shown(node.role),
    name: node.ignored ? '' : shown(node.name),
    description: description && ` (${description})`,
    value: String(node.value?.value ?? '').replaceAll('\n', '\\n'),
    properties: Object.fromEntries((node.properties ?? []).map(({ name, value }) => [name, value.value])),
    tag: element?.localName ?? '',
    attributes: element ? attributesOf(element) : {},
    parts: children.map((child) => partFrom(child, nodeOf, elements)),
  }
}

const shown = (said?: Said) =>
  String(said?.value ?? '')
    .trim()
    .replace(/\s+/g, ' ')

interface Context {
  /** Of the canvases, in the order of the document; each is taken when it is shown. */
  readonly charts: string[]
  readonly origin: string
  /** The identifiers of elements that describe others. */
  readonly describing: ReadonlySet<string>
}

/** Their contents stand for them, unless they have a name. */
const TRANSPARENT =
  /^(?:none|generic|paragraph|table|rowgroup|code|strong|emphasis|list|DescriptionList|LabelText|main)$/
const WITHOUT_LINE = /^(?:InlineTextBox|LineBreak|ListMarker)$/
/** Elements that do not begin a line. */
const INLINE = /^(?:|a|span|code|strong|em|time|sup|small|button)$/
/** What is in them is their name or value. */
const CLOSED =
  /^(?:link|button|textbox|searchbox|spinbutton|combobox|listbox|checkbox|radio|Date|DateTime|InputTime|image|Canvas|DisclosureTriangle)$/
/** They share a line with what they contain, if that is short. */
const SHORT = /^(?:listitem|status|alert|search|generic|heading)$/
const SHORT_LENGTH = 160

function linesOf(parts: readonly Part[], context: Context): string[] {
  const lines: string[] = []
  let isOpen = false
  const add = (text: string) => {
    if (text === '') return
    lines.push(isOpen ? `${lines.pop()}${/^[.,:;)]/.test(text) ? '' : ' '}${text}` : text)
    isOpen = true
  }
  const visit = (part: Part, isLabel: boolean) => {
    const { role, name, tag, attributes, parts, description } = part
    const isTransparent = TRANSPARENT.test(role) && name === ''
    if (WITHOUT_LINE.test(role) || (isTransparent && context.describing.has(attributes['id'] ?? ''))) return
    const isInline = INLINE.test(tag)
    if (!isInline && role !== 'definition') isOpen = false
    if (isTransparent) for (const one of parts) visit(one, isLabel || role === 'LabelText')
    else if (role === 'StaticText') add(isLabel ? '' : name)
    else if (role === 'term') add(`${lineOf(parts, context)}${description}:`)
    else if (role === 'definition') add(lineOf(parts, context))
    else {
      const [first = '', ...others] = outlineOf(part, context)
      const isPiece = isInline && others.length === 0
      if (isPiece) add(first)
      else lines.push(first, ...others)
      isOpen = isPiece
    }
    if (!isInline && role !== 'term') isOpen = false
  }
  for (const part of parts) visit(part, false)
  return lines
}

const lineOf = (parts: readonly Part[], context: Context) =>
  linesOf(parts, context)
    .map((line) => line.trim())
    .join(' ')

function outlineOf(part: Part, context: Context): readonly string[] {
  const { role, name, parts } = part
  if (role === 'row') return [row(parts, context)]
  const head = headOf(part, context)
  if (CLOSED.test(role)) return [head]
  const [first, ...others] = linesOf(parts, context)
  const all = [first, ...others].join(' ')
  if (first === undefined || (all === name && role !== 'heading')) return [head]
  const indented = others.map((line) => `  ${line}`)
  if (role === 'group' && first.startsWith('details ')) return [first, ...indented]
  const isFlat = !others.some((line) => line.startsWith(' ')) && all.length < SHORT_LENGTH
  if (others.length === 0 || (SHORT.test(role) && isFlat)) return [`${head}${head === '-' ? '' : ':'} ${all}`]
  return head === '-' ? [`- ${first}`, ...indented] : [head, `  ${first}`, ...indented]
}

/** The cell that names the row comes first. */
function row(cells: readonly Part[], context: Context): string {
  const [title = '', ...others] = cells.map(({ parts, description, attributes }) =>
    [lineOf(parts, context) + description, attributes['aria-sort'] ?? ''].join(' ').trim(),
  )
  const role = cells[0]?.role
  if (role === 'rowheader') return `row ${title}: ${others.join(' | ')}`
  return `${role === 'columnheader' ? 'columns' : 'row'}: ${[title, ...others].join(' | ')}`
}

/** Which values a control takes. */
const BOUNDS = ['min', 'max', 'step', 'maxlength', 'pattern', 'inputmode', 'placeholder']

function headOf(part: Part, { charts, origin }: Context): string {
  const { role, name, value, description, properties, attributes, tag } = part
  if (role === 'listitem') return '-'
  const { url, level, expanded, pressed, checked, invalid } = properties
  const options = /^(?:combobox|listbox)$/.test(role) ? optionsOf(part) : []
  const { type = '' } = attributes
  const isDetails = role === 'DisclosureTriangle'
  const said = [
    isDetails ? 'details' : role,
    role === 'heading' ? level : name && `"${name}"`,
    ...['focused', 'required', 'readonly', 'disabled', 'modal'].filter((state) => properties[state] === true),
    invalid === 'true' && 'invalid',
    isDetails && (expanded === true ? 'open' : 'closed'),
    pressed !== undefined && (pressed === 'true' ? 'pressed' : 'not pressed'),
    checked !== undefined && (checked === 'true' ? 'checked' : 'not checked'),
    'aria-current' in attributes && 'current',
    /^(?:password|date|datetime-local|url|submit)$/.test(type) && type,
    ...BOUNDS.filter((bound) => bound in attributes).map((bound) => `${bound} ${attributes[bound]}`),
    options.length > 0 ? `of ${options.join(', ')}` : value && `= ${value}`,
    tag === 'canvas' && charts.shift(),
    role === 'link' && `→ ${String(url).replace(origin, '')}`,
  ]
  return said.filter(Boolean).join(' ') + description
}

const optionsOf = ({ parts }: Part): string[] =>
  parts.flatMap((part) => {
    if (part.role !== 'option') return optionsOf(part)
    return `${part.properties['selected'] === true ? '*' : ''}${part.name || '(none)'}`
  })

/** What the page asks of Chart.js, which adds its defaults to the options. */
const CHARTS = `function charts(element) {
  const axis = ({ beginAtZero, ticks, grid }) => [beginAtZero, ticks.color, ticks.precision, grid.color]
  return [...element.querySelectorAll('canvas')].filter((canvas) => canvas.checkVisibility()).map((canvas) => {
    const chart = window.Chart?.getChart(canvas)
    if (!chart) return ''
    const { type, data, options } = chart.config
    const { indexAxis, animation, maintainAspectRatio, plugins, scales: { x, y } } = options
    return JSON.stringify({ type, data, indexAxis, animation, maintainAspectRatio, plugins, x: axis(x), y: axis(y) })
  })
}`
