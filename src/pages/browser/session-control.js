import { provider } from './page.js'

// The header shows who uses the page: a person who has signed in, or the subject of an access token.

// The menus of the header close by Escape.
for (const menu of /** @type {NodeListOf<HTMLDetailsElement>} */ (
  document.querySelectorAll('header details')
))
  menu.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return
    menu.open = false
    menu.querySelector('summary')?.focus()
  })

const control = provider ? await import('./sign-in-control.js') : await import('./token-control.js')

export const { askForToken } = control
