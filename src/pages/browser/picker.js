import { html, useEffect, useRef, useState } from './htm.js'
import { send } from './session.js'
import { itemsOf, titleOf } from './values.js'

/** Choices at a time. */
const SHOWN = 20

/** Waits for this long after a key, so that a word is one request. */
const PAUSE_MILLISECONDS = 200

/** @typedef {{ value: string, title: string }} Choice */

/**
 * Chooses a resource of a long list, which the service searches while words are typed (WAI-ARIA, combobox with a list). Shows
 * titles. A text that is not chosen counts as an identifier, since the list may not be readable.
 *
 * @param {{ options: any, attributes: any, onChange: (value: string) => void }} properties
 *   options: of the HAL-FORMS property
 */
export function Picker({ options, attributes, onChange }) {
  const { value, id, onInput: _, ...others } = attributes
  const [text, setText] = useState(/** @type {string | undefined} */ (undefined))
  const [choices, setChoices] = useState(/** @type {Choice[]} */ ([]))
  const [active, setActive] = useState(-1)
  const [title, remember] = useTitle(options, value)
  const pause = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined))
  const isOpen = text !== undefined && choices.length > 0
  const listId = `${id}-choices`

  const search = (/** @type {string} */ words) => {
    clearTimeout(pause.current)
    pause.current = setTimeout(async () => {
      const found = await choicesFor(options, words)
      setActive(-1)
      setChoices(found)
    }, PAUSE_MILLISECONDS)
  }
  const type = (/** @type {any} */ event) => {
    setText(event.target.value)
    onChange(event.target.value.trim())
    search(event.target.value)
  }
  const close = () => {
    clearTimeout(pause.current)
    setText(undefined)
    setChoices([])
  }
  const choose = (/** @type {Choice} */ choice) => {
    remember(choice)
    onChange(choice.value)
    close()
  }
  const press = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const choice = choices[active]
    if (step !== undefined && !isOpen) search(text ?? '')
    if (step !== undefined && isOpen) setActive((active + step + choices.length) % choices.length)
    if (step === undefined && !(event.key === 'Enter' && isOpen && choice) && event.key !== 'Escape') return
    event.preventDefault()
    if (event.key === 'Enter' && choice) choose(choice)
    if (event.key === 'Escape') close()
    if (step !== undefined) setText(text ?? title ?? value)
  }
  return html`<div class="picker">
    <input type="text" role="combobox" autocomplete="off" aria-autocomplete="list" id=${id} ...${others}
      aria-expanded=${String(isOpen)} aria-controls=${listId}
      aria-activedescendant=${isOpen && active >= 0 ? `${listId}-${active}` : undefined}
      value=${text ?? title ?? value} onInput=${type} onKeyDown=${press} onBlur=${close} />
    <ul role="listbox" id=${listId} aria-label="Choices" hidden=${!isOpen}>
      ${choices.map(
        (
          choice,
          index,
        ) => html`<li role="option" id=${`${listId}-${index}`} aria-selected=${String(index === active)} dir="auto"
        onMouseDown=${(/** @type {Event} */ event) => {
          // Otherwise the control loses the focus before the click.
          event.preventDefault()
          choose(choice)
        }}>${choice.title}</li>`,
      )}
    </ul>
  </div>`
}

/**
 * The resources that contain the words, or the first in the order of their names.
 *
 * @param {any} options
 * @param {string} words
 * @returns {Promise<Choice[]>}
 */
async function choicesFor(options, words) {
  const parameters = new URLSearchParams({ limit: String(SHOWN), sort: `${options.promptField}:asc` })
  if (words.trim() !== '') parameters.set('q', words)
  const items = await itemsAt(`${options.link.href}?${parameters}`)
  return items.map((item) => ({
    value: String(item[options.valueField]),
    title: titleOf(item, options.promptField),
  }))
}

/**
 * The items of a list; none if it may not be read, or the page is left meanwhile.
 *
 * @param {string} url
 * @returns {Promise<any[]>}
 */
async function itemsAt(url) {
  const answer = await send(url).catch(() => undefined)
  return (answer?.status === 200 && itemsOf(answer.body)) || []
}

/**
 * The title of the resource with an identifier; undefined until it is known, or if there is none. The function keeps that of a
 * choice.
 *
 * @param {any} options
 * @param {string} value
 * @returns {[title: string | undefined, remember: (choice: Choice) => void]}
 */
function useTitle(options, value) {
  const [titles, setTitles] = useState(/** @type {Record<string, string>} */ ({}))
  const remember = (/** @type {Choice} */ choice) =>
    setTitles((titles) => ({ ...titles, [choice.value]: choice.title }))
  useEffect(() => {
    if (value === '' || value in titles) return undefined
    const timer = setTimeout(async () => {
      const [item] = await itemsAt(`${options.link.href}?${new URLSearchParams({ id: value })}`)
      if (item) remember({ value, title: titleOf(item, options.promptField) })
    }, PAUSE_MILLISECONDS)
    return () => clearTimeout(timer)
  }, [value])
  return [titles[value], remember]
}
