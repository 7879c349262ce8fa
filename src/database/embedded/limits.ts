/** How many connections the embedded database takes at once. */
export const EMBEDDED_CONNECTIONS = 20

/** How many of them the service may use: the others are for psql, Studio and the migrator. */
export const EMBEDDED_POOL = 7

/** The `application_name` of the service and its commands: those of their sessions are all alike. */
export const SERVICE_NAME = 'halgraph'

/** The name PostgreSQL gives the socket of port 5432, so that `psql -h <folder>` finds it. */
export const SOCKET_NAME = '.s.PGSQL.5432'
