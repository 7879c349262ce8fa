// Keeps the session of this origin in memory from one page to the next. No other origin can reach it. Browsers end it half
// a minute after the last message; it stores nothing.

let session = /** @type {any} */ (undefined)

addEventListener('message', ({ data, ports: [port] }) => {
  // A page that has been still may know an older one.
  const isOlder = data.session && session && data.session.at < session.at
  if ('session' in data && !isOlder) session = data.session
  port?.postMessage(session)
})
