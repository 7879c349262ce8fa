/** The rows, or groups of them, that a problem names. */
export const NAMED = 20
