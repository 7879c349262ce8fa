import { SettingsError } from './settings.ts'

/** Flushes the spans and stops sending them. */
export type StopTracing = () => Promise<void>

/**
 * Sends spans to an OpenTelemetry collector (OTLP over HTTP). The SDK is large, so it is loaded, and must be
 * installed, only when an endpoint is set.
 *
 * @throws {SettingsError} when the packages are not installed
 */
export async function startTracing(endpoint: string | undefined): Promise<StopTracing> {
  if (endpoint === undefined) return async () => {}
  const { sdk, exporter } = await loadPackages()
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const provider = new sdk.NodeTracerProvider({
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter({ url }))],
  })
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES are read by the SDK itself.
  process.env['OTEL_SERVICE_NAME'] ??= 'halgraph'
  provider.register()
  return () => provider.shutdown()
}

async function loadPackages() {
  try {
    const [sdk, exporter] = await Promise.all([
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ])
    return { sdk, exporter }
  } catch {
    throw new SettingsError([
      'OTEL_EXPORTER_OTLP_ENDPOINT: needs @opentelemetry/sdk-trace-node and @opentelemetry/exporter-trace-otlp-http installed',
    ])
  }
}
