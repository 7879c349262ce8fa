/** The name of the service in traces, in metrics, and as the `application_name` of its database sessions. */
export const SERVICE_NAME = 'halgraph'
