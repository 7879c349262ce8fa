// What the tests use of two clients that come without declarations.
declare module 'traverson' {
  interface Response {
    readonly statusCode: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }
  interface Request {
    jsonHal(): Request
    follow(...relations: string[]): Request
    withRequestOptions(options: { headers: Record<string, string> }): Request
    withTemplateParameters(parameters: Record<string, string>): Request
    getResource(done: (error: Error | null, document: unknown) => void): void
    post(body: object, done: (error: Error | null, response: Response) => void): void
    delete(done: (error: Error | null, response: Response) => void): void
  }
  const traverson: {
    registerMediaType(type: string, adapter: unknown): void
    from(url: string): Request
  }
  export default traverson
}

declare module 'traverson-hal' {
  const adapter: { readonly mediaType: string }
  export default adapter
}
