import { html, useState } from './htm.js'
import { useNames } from './names.js'
import { base } from './page.js'
import { Picker } from './picker.js'
import { digitsIn, isNumeric, leavesOf, textOf } from './values.js'

/**
 * The URL of the first page of this list with other parameters.
 *
 * @param {(parameters: URLSearchParams) => void} change
 */
export function addressWith(change) {
  const parameters = new URLSearchParams(location.search)
  for (const name of ['page', 'cursor']) parameters.delete(name)
  change(parameters)
  const query = parameters.toString()
  return location.pathname + (query === '' ? '' : `?${query}`)
}

/** @param {{ profile: any }} properties */
export function Search({ profile }) {
  if (!profile?.policies.paging?.search.length) return null
  const search = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const words = String(new FormData(/** @type {HTMLFormElement} */ (event.target)).get('q'))
    location.assign(addressWith((all) => (words.trim() ? all.set('q', words) : all.delete('q'))))
  }
  return html`<form class="filter" role="search" onSubmit=${search}>
    <input name="q" type="search" aria-label="Words to search for" placeholder="Search" maxlength="200" autocomplete="off" dir="auto"
      defaultValue=${new URLSearchParams(location.search).get('q')} />
    <button type="submit" class="quiet">Search</button>
  </form>`
}

const SET = { 'set:true': 'is set', 'set:false': 'is not set' }
const CHOICES = { '': 'is', ne: 'is not', ...SET }
const TEXTS = { icontains: 'contains', prefix: 'begins with', ...CHOICES }
const LISTS = { contains: 'contains', ...SET }
const NUMBERS = { gte: 'is at least', lte: 'is at most', gt: 'is more than', lt: 'is less than', ...CHOICES }
const DAYS = { gte: 'is on or after', lte: 'is on or before', gt: 'is after', lt: 'is before', ...CHOICES }
/** Times are entered to the minute. */
const TIMES = { gte: 'is at or after', lt: 'is before', ...SET }
const OTHER_TIMES = { gt: 'is after', lte: 'is at or before' }
/** Conditions that the form may not offer, but links have. */
const OTHERS = /** @type {Record<string, string>} */ ({
  in: 'is one of',
  contains: 'contains',
  ...TEXTS,
})

/**
 * The conditions of a field, by operator.
 *
 * @param {any} schema
 * @param {boolean} isReference
 * @returns {Record<string, string>}
 */
function conditionsOf(schema, isReference) {
  if (isNumeric(schema)) return NUMBERS
  if (schema?.format === 'date') return DAYS
  if (schema?.format === 'date-time') return TIMES
  if (schema?.type === 'array') return LISTS
  return schema?.type === 'boolean' || schema?.enum || isReference ? CHOICES : TEXTS
}

/** A sentence: field, condition and value. @param {{ profile: any }} properties */
export function Filters({ profile }) {
  const names = /** @type {string[]} */ (profile?.policies.paging?.filter ?? [])
  const schemas = new Map(leavesOf(profile?.schema))
  const [name, setName] = useState(names.find((one) => one === profile.name_field) ?? names[0] ?? '')
  const [chosen, choose] = useState('none')
  const [value, setValue] = useState('')
  if (names.length === 0) return null
  const schema = (schemas.get(name)?.items ?? schemas.get(name)) || {}
  const conditions = conditionsOf(schemas.get(name), name in profile.references)
  const condition = chosen in conditions ? chosen : (Object.keys(conditions)[0] ?? '')
  const add = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault()
    const [operator, isSet] = condition.split(':')
    const isTime = schema.format === 'date-time'
    const entered = isNumeric(schema) ? (digitsIn(value) ?? value) : value
    const operand = isSet ?? (isTime ? new Date(value).toISOString() : entered)
    const filter = `${name}${operator ? `[${operator}]` : ''}:${operand}`
    location.assign(addressWith((parameters) => parameters.append('filter', filter)))
  }
  const select = (/** @type {any} */ { target }) => {
    setName(target.value)
    setValue('')
  }
  return html`<form class="filter" onSubmit=${add}>
    <label>Field <select value=${name} onChange=${select}>
      ${names.map((one) => html`<option value=${one}>${schemas.get(one)?.title}</option>`)}
    </select></label>
    <label>Condition <select value=${condition} onChange=${(/** @type {any} */ event) => choose(event.target.value)}>
      ${Object.entries(conditions).map(([one, text]) => html`<option value=${one}>${text}</option>`)}
    </select></label>
    ${!(condition in SET) && html`<${Operand} key=${name} ...${{ schema, target: profile.references[name], value, setValue }} />`}
    <button type="submit" class="quiet">Filter</button>
  </form>`
}

/** @type {Record<string, string>} */
const TYPES = { 'date-time': 'datetime-local', date: 'date' }

/** The control for the value of a filter. @param {any} properties */
function Operand({ schema, target, value, setValue }) {
  const attributes = {
    id: 'filter-value',
    value,
    required: true,
    autocomplete: 'off',
    onInput: (/** @type {any} */ event) => setValue(event.target.value),
  }
  const options = target && {
    link: { href: `${base}/${target.path}` },
    promptField: target.name_field,
    valueField: 'id',
  }
  const choices = schema.type === 'boolean' ? ['true', 'false'] : schema.enum
  const type = TYPES[schema.format] ?? 'text'
  const control = choices
    ? html`<select ...${attributes}>
        <option value=""></option>
        ${choices.map((/** @type {string} */ one) => html`<option value=${one}>${operandText(schema, one)}</option>`)}
      </select>`
    : html`<input type=${type} inputmode=${isNumeric(schema) ? 'decimal' : undefined} step="any" dir="auto" ...${attributes} />`
  return html`<label for="filter-value">Value</label>
    ${options ? html`<${Picker} ...${{ options, attributes, onChange: setValue }} />` : control}${schema['x-unit']}`
}

/** The operand of a filter as people read it. @param {any} schema @param {string} operand */
function operandText(schema, operand) {
  if (schema.type === 'boolean') return operand === 'true' ? 'yes' : 'no'
  const isTime = schema.format === 'date-time' || schema.format === 'date'
  return isTime && Number.isNaN(Date.parse(operand)) ? operand : textOf(operand, schema)
}

/**
 * A filter as a sentence: `Distance is at least 5 parsecs`.
 *
 * @param {string} filter
 * @param {any} profile
 * @param {(field: string, value: unknown) => { name: string } | undefined} nameOf
 */
function sentenceOf(filter, profile, nameOf) {
  const [, name = '', operator = '', operand = ''] = /^([\w.]+)(?:\[(\w+)\])?:(.*)$/s.exec(filter) ?? []
  const schema = new Map(leavesOf(profile?.schema)).get(name)
  const key = operator === 'set' ? `set:${operand}` : operator
  const others = schema?.format === 'date-time' ? { ...OTHERS, ...OTHER_TIMES } : OTHERS
  const text = conditionsOf(schema, name in (profile?.references ?? {}))[key] ?? others[key]
  if (!schema || text === undefined) return filter
  const subject = `${schema.title} ${text}`
  if (operator === 'set') return subject
  const operands = operator === 'in' ? operand.split('|') : [operand]
  const texts = operands.map((one) => nameOf(name, one)?.name ?? operandText(schema.items ?? schema, one))
  const unit = schema['x-unit']
  return `${subject} ${texts.join(' or ')}${unit ? ` ${unit}` : ''}`
}

/** Parameters that other parts of the page show. */
const SHOWN_ELSEWHERE = ['page', 'limit', 'sort', 'cursor', 'q']

/** @param {{ profile: any }} properties */
export function ActiveFilters({ profile }) {
  const active = [...new URLSearchParams(location.search)]
    .filter(([name]) => !SHOWN_ELSEWHERE.includes(name))
    .map(([name, value]) => ({ name, value, filter: name === 'filter' ? value : `${name}:${value}` }))
  const nameOf = useNames(profile?.references ?? {}, (field) =>
    active.flatMap(({ filter }) =>
      filter.startsWith(field) ? filter.slice(filter.indexOf(':') + 1).split('|') : [],
    ),
  )
  if (active.length === 0) return null
  return html`<ul class="active" aria-label="Filters">
    ${active.map(({ name, value, filter }) => {
      const sentence = sentenceOf(filter, profile, nameOf)
      return html`<li>
      <span dir="auto">${sentence}</span>${' '}
      <a href=${addressWith((all) => all.delete(name, value))} aria-label=${`Remove the filter: ${sentence}`}>✕</a>
    </li>`
    })}
  </ul>`
}
