import { execFileSync } from 'node:child_process'

export const { ORIGIN: origin, TOKEN: token } = process.env
export const headers = { Authorization: `Bearer ${token}` }

export function run(name, ...parameters) {
  execFileSync(`node_modules/.bin/${name}`, parameters, { stdio: ['ignore', 'ignore', 'inherit'] })
}

/** Where a server listens. */
export async function listen(server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${server.address().port}`
}
