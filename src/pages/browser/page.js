/** @param {string} name */
const meta = (name) =>
  /** @type {HTMLMetaElement | null} */ (document.querySelector(`meta[name=${name}]`))?.content

/** The URL of the entry document. */
export const base = meta('base') ?? ''

/** The provider at which people sign in, and what it is asked for; undefined if pages take an access token instead. */
export const provider = meta('sign-in') && JSON.parse(meta('sign-in') ?? '')

/** The command that adds the example catalogue, if there is one. */
export const seed = meta('seed')
