import { type TObject, Type } from '@sinclair/typebox'
import { EventBody, EventResponse } from '../../../schema/event.ts'
import type { App, RouteContext } from '../../http/context.ts'
import type { Outcome } from './duplicates.ts'
import { openIntake } from './intake.ts'
import { identifierOf, validateEvent } from './validate.ts'

const answers: Record<Outcome, EventResponse> = {
  stored: { accepted: true },
  duplicate: { accepted: true, deduplicated: true },
  over_ceiling: { accepted: true, recorded: false, reason: 'fair_use_ceiling' },
}

export function eventRoutes(
  app: App,
  { stores, now, registry, countIdentifierUse: countIdentifier }: RouteContext,
): void {
  const intake = openIntake({ stores, now, log: app.log, registry })
  app.addHook('onClose', () => intake.idle())
  app.post(
    '/events',
    {
      schema: {
        tags: ['Events'],
        summary: 'Send a server-side event',
        description:
          'An analytics signal from your back end, stored beside the events of the pixel. It never makes a conversion, and its `value` is no revenue. 200 means that it is stored. After a 503, or no response, retry with the same `event_id`: the event may have been stored all the same, and is then a duplicate.',
        body: EventBody,
        response: {
          200: EventResponse,
          400: refusal('A field is refused', [
            'invalid_json',
            'invalid_body',
            'invalid_event_name',
            'invalid_click_id',
            'invalid_visitor_id',
            'missing_identifier',
            'invalid_campaign_id',
            'invalid_value',
            'invalid_event_id',
            'invalid_timestamp',
            'unknown_parameter',
          ]),
          404: refusal('There is no such click or campaign, or it is not yours', [
            'click_not_found',
            'campaign_not_found',
          ]),
          503: refusal(
            'Not acknowledged; retry with the same `event_id`. An insert that took longer than its deadline may still have been stored',
            ['unavailable', 'query_timeout'],
          ),
        },
      },
      config: { scope: 'write:events' },
    },
    async (request, reply) => {
      const { accountId, plan } = request.caller
      const event = validateEvent(request.body, now())
      const identifier = `${accountId} ${identifierOf(event)}`
      await countIdentifier(request, reply, identifier, plan.identifierEventsPerMinute)
      // What waits is the event; a body may be a hundred times as large.
      request.body = null as never
      return answers[await intake.accept(event, { accountId, clickAllowance: plan.clickAllowance })]
    },
  )
}

function refusal(reason: string, codes: readonly string[]): TObject {
  return Type.Object({}, { description: `${reason}: ${codes.map((code) => `\`${code}\``).join(', ')}.` })
}
