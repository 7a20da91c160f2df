import { ConversionPage, ConversionQuery } from '../../schema/conversion.ts'
import type { App, Room } from '../room.ts'
import { planConversions } from './plan.ts'
import { listConversions } from './run.ts'

export function conversionRoutes(app: App, room: Room): void {
  app.get(
    '/conversions',
    {
      schema: {
        tags: ['Conversions'],
        summary: 'CPA and revenue conversions, newest first',
        description:
          'A conversion that changed its status is listed once, in its latest state. Tests are left out unless asked for.',
        querystring: ConversionQuery,
        response: { 200: ConversionPage },
      },
      config: { scope: 'read:conversions' },
    },
    (request) => listConversions(room, planConversions(request.query, request.caller), request.signal),
  )
}
