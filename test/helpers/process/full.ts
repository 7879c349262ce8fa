/** Whether the long tests run as well (ava.config.js); tests with random values then try more of them. */
export const isFull = process.env['FULL'] === '1'
