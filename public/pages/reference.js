import { token } from './session.js'

/**
 * Renders the OpenAPI document of this service with Swagger UI. Calls go to where this page came from,
 * with the token of the session if there is one; nothing is sent elsewhere (no validator, no fonts).
 */
async function render() {
  const base = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name=base]')).content
  const response = await fetch(`${new URL(base).pathname}/openapi.json`)
  const document_ = await response.json()
  // @ts-expect-error The bundle is an ordinary script; it puts itself on the window.
  const ui = window.SwaggerUIBundle({
    spec: { ...document_, servers: [{ url: location.origin }] },
    dom_id: '#reference',
    deepLinking: true,
    validatorUrl: null,
    tryItOutEnabled: true,
    defaultModelsExpandDepth: 0,
    docExpansion: 'list',
    onComplete: () => token() !== '' && ui.preauthorizeApiKey('bearer', token()),
  })
}

void render()
