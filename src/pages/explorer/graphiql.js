import 'graphiql/style.css'

export { GraphiQL } from 'graphiql'
export { createElement } from 'react'
export { createRoot } from 'react-dom/client'
