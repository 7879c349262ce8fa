import { provider } from './page.js'

// The header shows who uses the page: a person who has signed in, or the subject of an access token.

const control = provider ? await import('./sign-in-control.js') : await import('./token-control.js')

export const { askForToken } = control
