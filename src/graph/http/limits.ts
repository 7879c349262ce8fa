/** Hand-written operations are shorter. */
export const MAXIMUM_TOKENS = 2000
/** Validation stops after this many errors: searching for similar names takes time. */
export const MAXIMUM_VALIDATION_ERRORS = 5
export const MAXIMUM_DOCUMENT_BYTES = 32 * 1024
