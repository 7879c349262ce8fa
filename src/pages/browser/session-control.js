import { provider } from './page.js'

// Who uses this page, in its header: a person who has signed in, or whoever has entered an access token.

const control = provider ? await import('./sign-in-control.js') : await import('./token-control.js')

export const { askForToken } = control
