/** The test replaces this with every name in the SQL of the engine. */
export const names: readonly string[] = ['days', 'removed', 'current', 'total_count']
