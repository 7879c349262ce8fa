/**
 * Makes a DOM element. Text is always set as text, so nothing that came from a resource is ever read as
 * HTML. Attributes that are undefined or false are left out; `onclick` and the like are functions.
 *
 * @param {string} name
 * @param {Record<string, string | boolean | undefined | ((event: Event) => void)>} [attributes]
 * @param {...(Node | string | undefined)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(key.slice(2), value)
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? '' : value)
  }
  made.append(...children.filter((child) => child !== undefined))
  return made
}

/**
 * A link, or plain text where the address is not one of the web.
 *
 * @param {string} href
 * @param {string} text
 * @param {string} [relation]
 */
export function anchor(href, text, relation) {
  const url = URL.canParse(href, location.href) ? new URL(href, location.href) : undefined
  const isWeb = url && (url.protocol === 'http:' || url.protocol === 'https:')
  return isWeb ? element('a', { href: url.href, rel: relation }, text) : element('span', {}, text)
}

/**
 * A heading with a block of code that can be scrolled by keyboard, and copied.
 *
 * @param {string} title
 * @param {string} text
 */
export function codeBlock(title, text) {
  const code = element('pre', { tabindex: '0', 'aria-label': title }, element('code', {}, text))
  const copy = element(
    'button',
    { type: 'button', class: 'quiet', onclick: () => void copyText(copy, text) },
    'Copy',
  )
  return element(
    'section',
    { class: 'code' },
    element('div', { class: 'heading' }, element('h2', {}, title), copy),
    code,
  )
}

/**
 * @param {HTMLElement} button
 * @param {string} text
 */
async function copyText(button, text) {
  await navigator.clipboard?.writeText(text)
  button.textContent = 'Copied'
}
