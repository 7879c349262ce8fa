import { trace } from '@opentelemetry/api'
import { SERVICE_NAME } from '../../observability/service-name.ts'
import { SettingsError } from '../settings/settings.ts'

/**
 * Sends spans to an OpenTelemetry collector (OTLP over HTTP). The SDK is large, so it is optional and loaded only if an
 * endpoint is set.
 *
 * @returns a function that flushes the spans
 * @throws {SettingsError} when the packages are not installed
 */
export async function startTracing(endpoint: string | undefined): Promise<() => Promise<void>> {
  if (endpoint === undefined) return async () => {}
  const [sdk, exporter, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]).catch(() => {
    throw new SettingsError([
      'OTEL_EXPORTER_OTLP_ENDPOINT: install @opentelemetry/sdk-trace-node, @opentelemetry/exporter-trace-otlp-http and @opentelemetry/resources',
    ])
  })
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME }))
    // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
    .merge(detectResources({ detectors: [envDetector] }))
  const provider = new sdk.NodeTracerProvider({
    resource,
    spanProcessors: [new sdk.BatchSpanProcessor(new exporter.OTLPTraceExporter({ url }))],
  })
  // The bundle has its own copy of the API, which `register` does not reach.
  trace.setGlobalTracerProvider(provider)
  provider.register()
  return () => provider.shutdown()
}
