import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Settings, SettingsError } from './settings/settings.ts'

/**
 * Listens on HOST and PORT.
 *
 * @returns the origin on this machine, such as `http://127.0.0.1:3000`
 * @throws {SettingsError}
 */
export function listen(server: Server, { host, port }: Settings): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new SettingsError([listenProblem(error, host, port)])))
    server.listen(port, host, () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  })
}

function listenProblem({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `PORT: ${port} is in use on ${host}; stop that program, or set another PORT`
    case 'EACCES':
      return `PORT: no permission to use ${port}; set a PORT of 1024 or higher`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST: ${host} is not an address of this machine; set another HOST, such as 0.0.0.0`
    default:
      return `HOST and PORT: cannot listen on ${host}, port ${port}: ${message}`
  }
}
