import { JourneyPage, JourneyQuery } from '../../../schema/journey.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { sendPage, withReadDeadline } from '../listResponse.ts'
import { planJourney } from './plan.ts'
import { readJourney } from './run.ts'

export function journeyRoutes(app: App, context: RouteContext): void {
  app.get('/journeys', {
    schema: {
      tags: ['Events'],
      summary: 'Get a journey',
      description:
        'The clicks, events and conversions of one visitor or click, oldest first, each with the fields of its list; at the same moment clicks come before events, and events before conversions. Rows of bots and tests and conversions of any status are included. A journey without rows is an empty list. Requires `visitor_id` or `click_id`.',
      querystring: JourneyQuery,
      response: { 200: JourneyPage },
    },
    config: { scope: 'read:events' },
    handler: async (request, reply) => {
      const plan = planJourney(request.query, request.caller, context.now())
      const read = (signal: AbortSignal) => readJourney({ ...context, signal }, plan)
      const { data, ...rest } = await withReadDeadline(request.signal, 'request the journey of a click', read)
      await sendPage(reply, data, rest)
    },
  })
}
