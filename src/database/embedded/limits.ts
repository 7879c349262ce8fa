/** Maximum number of connections of the embedded database. */
export const EMBEDDED_CONNECTIONS = 20

/** Maximum connections of the service; the others are for psql, Studio and the migrator. */
export const EMBEDDED_POOL = 7

/** PostgreSQL's name for the socket of port 5432, which `psql -h <folder>` opens. */
export const SOCKET_NAME = '.s.PGSQL.5432'
