/** @param {string} name */
const meta = (name) =>
  /** @type {HTMLMetaElement | null} */ (document.querySelector(`meta[name=${name}]`))?.content

/** The URL of the entry document. */
export const base = meta('base') ?? ''

/** The command that adds the example catalogue, if there is one. */
export const seed = meta('seed')
