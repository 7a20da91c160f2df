import {
  ChecksumQuery,
  ClickChecksums,
  ConversionChecksums,
  CostChecksums,
  EventChecksums,
} from '../../../schema/checksum.ts'
import { NotModified } from '../../../schema/notModified.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { openResponseCache } from '../../http/responseCache.ts'
import { planChecksums, runChecksums } from './checksums.ts'

const resources = [
  { resource: 'clicks', scope: 'read:clicks', tag: 'Clicks', schema: ClickChecksums },
  { resource: 'conversions', scope: 'read:conversions', tag: 'Conversions', schema: ConversionChecksums },
  { resource: 'costs', scope: 'read:reports', tag: 'Costs', schema: CostChecksums },
  { resource: 'events', scope: 'read:events', tag: 'Events', schema: EventChecksums },
] as const

export function checksumRoutes(app: App, context: RouteContext): void {
  // A copy may have later rows than a cached response counts, and would differ.
  const { send } = openResponseCache({ ttlMs: 0 })
  for (const { resource, scope, tag, schema } of resources) {
    app.get(`/checksums/${resource}`, {
      schema: {
        tags: [tag],
        summary: `Get checksums of ${resource}`,
        description:
          'Verifies a copy: for each UTC day the number of rows, the sum of their amounts (events have none) and a hash of their ids and versions. Read a day again only if they differ.',
        querystring: ChecksumQuery,
        response: { 200: schema, 304: NotModified },
      },
      config: { scope },
      handler: (request, reply) =>
        send(request, reply, (signal) =>
          runChecksums({ ...context, signal }, planChecksums(resource, request.query, request.caller, context.now())),
        ),
    })
  }
}
