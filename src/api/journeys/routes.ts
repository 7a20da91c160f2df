import { JourneyPage, JourneyQuery } from '../../../schema/journey.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { sendRead } from '../listResponse.ts'
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
    handler: (request, reply) => {
      const plan = planJourney(request.query, request.caller, context.now())
      return sendRead(context, request, reply, 'request the journey of a click', (read) => readJourney(read, plan))
    },
  })
}
