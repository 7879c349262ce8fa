declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  /** The part that tests use of the package, which has no types. */
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
  }
}
