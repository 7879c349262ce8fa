import { token } from './session.js'

/**
 * Renders the OpenAPI document of this service with Swagger UI. Requests go to the origin of this page, with the token of
 * the session. Nothing is sent to third parties (no validator, no fonts).
 */
async function render() {
  const base = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name=base]')).content
  const response = await fetch(`${new URL(base).pathname}/openapi.json`)
  const document_ = await response.json()
  // @ts-expect-error The bundle is a classic script that sets a property of the window.
  const ui = window.SwaggerUIBundle({
    spec: { ...document_, servers: [{ url: new URL('../..', import.meta.url).href.slice(0, -1) }] },
    dom_id: '#reference',
    deepLinking: true,
    validatorUrl: null,
    tryItOutEnabled: true,
    defaultModelsExpandDepth: 0,
    docExpansion: 'list',
    onComplete: () => token() !== '' && ui.preauthorizeApiKey('bearer', token()),
  })
}

/** Swagger UI uses dark colours inside an element with the class `dark-mode`. */
const dark = matchMedia('(prefers-color-scheme: dark)')
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
dark.addEventListener('change', followScheme)
followScheme()

void render()
