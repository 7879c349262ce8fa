import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Settings, SettingsError } from './settings/settings.ts'

/**
 * Listens on HOST and PORT.
 *
 * @returns the origin on this machine, such as `http://127.0.0.1:3000`
 * @throws {SettingsError} when that is not possible
 */
export function listen(server: Server, { host, port }: Settings): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new SettingsError([listenProblem(error, host, port)])))
    server.listen(port, host, () => resolve(originOf(server)))
  })
}

function listenProblem({ code, message }: NodeJS.ErrnoException, host: string, port: number): string {
  switch (code) {
    case 'EADDRINUSE':
      return `PORT: ${port} is in use on ${host}; end the program that uses it, or set another PORT`
    case 'EACCES':
      return `PORT: the process may not use ${port}; set a PORT from 1024 on`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `HOST: ${host} is not an address of this machine; set another HOST, such as 0.0.0.0`
    default:
      return `HOST and PORT: cannot listen on ${host}, port ${port}: ${message}`
  }
}

function originOf(server: Server): string {
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
