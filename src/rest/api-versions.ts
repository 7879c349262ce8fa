import type { SetPathHeaders } from '../http/app.ts'
import { link } from '../http/headers.ts'
import { hasHost, rootFor } from '../http/request-target.ts'
import { type ApiVersion, successorOf } from '../model/definition/domain.ts'
import type { Resource } from '../model/definition/resource.ts'
import { restViewOf } from './former-names.ts'
import { basePath, type Deprecation, REFERENCE_PATH, type RestSettings } from './urls.ts'

/** @param settings those of the default version; the other versions share what does not belong to a version */
export function apiVersions<Settings extends RestSettings>(
  resources: readonly Resource[],
  versions: readonly ApiVersion[],
  settings: Settings,
) {
  return versions.map((apiVersion) => {
    const { name, deprecated, sunset } = apiVersion
    const successor = successorOf(apiVersion, versions)
    const deprecation = deprecated !== undefined &&
      successor && {
        since: new Date(deprecated),
        sunset: sunset === undefined ? undefined : new Date(sunset),
        successor: basePath({ ...settings, apiVersion: successor.name }),
      }
    return {
      resources: resources.map((resource) => restViewOf(resource, name)),
      settings: {
        ...settings,
        apiVersion: name,
        ...(versions.length > 1 && { reference: `${REFERENCE_PATH}/${name}` }),
        ...(deprecation && { deprecation }),
      },
    }
  })
}

/**
 * The headers of deprecated versions: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and a link to the same resource, or
 * else to the entry document, of the next version (`successor-version`, RFC 5829). Undefined without such versions.
 */
export function deprecationHeaders(
  versions: readonly { readonly settings: RestSettings }[],
): SetPathHeaders | undefined {
  const deprecated = versions.map(({ settings }) => settings).filter(({ deprecation }) => deprecation)
  if (deprecated.length === 0) return undefined
  return (ctx, hasRoute) => {
    const settings = deprecated.find((one) => `${ctx.path}/`.startsWith(`${basePath(one)}/`))
    if (!settings) return
    const { since, sunset, successor } = settings.deprecation as Deprecation
    ctx.set('Deprecation', deprecationDate(since))
    if (sunset) ctx.set('Sunset', sunset.toUTCString())
    if (!hasHost(ctx)) return
    const same = successor + ctx.path.slice(basePath(settings).length)
    const target = rootFor(ctx, settings) + (hasRoute(same) ? same : successor)
    // URL encodes characters of the path that a header cannot have.
    ctx.append('Link', link(new URL(target).href, 'successor-version'))
  }
}

/** RFC 9745 §2.1, RFC 9651 §3.3.7. */
export function deprecationDate(since: Date): string {
  return `@${Math.floor(since.getTime() / 1000)}`
}
