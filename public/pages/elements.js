/**
 * Creates a DOM element. Text is always set as text, so values of a resource are never parsed as HTML.
 * Attributes that are undefined or false are omitted; functions are event listeners, such as `onclick`.
 *
 * @param {string} name
 * @param {Record<string, string | boolean | undefined | ((event: Event) => void)>} [attributes]
 * @param {...(Node | string | undefined)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const created = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') created.addEventListener(key.slice(2), value)
    else if (value !== undefined && value !== false) created.setAttribute(key, value === true ? '' : value)
  }
  created.append(...children.filter((child) => child !== undefined))
  return created
}

/**
 * A link, or plain text if the address is not an http or https URL.
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
 * A heading and a block of code, with keyboard scrolling and a copy button.
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
