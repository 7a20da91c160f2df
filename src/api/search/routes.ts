import {
  CampaignSearchPage,
  CampaignSearchQuery,
  ConversionSearchPage,
  ConversionSearchQuery,
} from '../../../schema/search.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { sendPage, withReadDeadline } from '../listResponse.ts'
import { searchCampaigns } from './campaigns.ts'
import { searchConversions } from './conversions.ts'
import { planSearch } from './plan.ts'

const advice = 'search for a longer text or fewer fields'

export function searchRoutes(app: App, context: RouteContext): void {
  app.get('/conversions/search', {
    schema: {
      tags: ['Conversions'],
      summary: 'Search conversions',
      description:
        'Conversions with a field that contains the text, ignoring case, newest first; `matches` has the fields. Test conversions are excluded. `externalClickId` and `referrer` come from the click of the conversion.',
      querystring: ConversionSearchQuery,
      response: { 200: ConversionSearchPage },
    },
    config: { scope: 'search:conversions' },
    handler: async (request, reply) => {
      const plan = planSearch('conversions/search', request.query, request.caller)
      const search = (signal: AbortSignal) => searchConversions({ ...context, signal }, plan)
      const { data, ...rest } = await withReadDeadline(request.signal, advice, search)
      await sendPage(reply, data, rest)
    },
  })
  app.get('/campaigns/search', {
    schema: {
      tags: ['Campaigns'],
      summary: 'Search campaigns',
      description:
        'Campaigns with a field that contains the text, ignoring case, newest first; `matches` has the fields.',
      querystring: CampaignSearchQuery,
      response: { 200: CampaignSearchPage },
    },
    config: { scope: 'search:campaigns' },
    handler: async (request, reply) => {
      const plan = planSearch('campaigns/search', request.query, request.caller)
      const search = (signal: AbortSignal) => searchCampaigns({ ...context, signal }, plan)
      const { data, ...rest } = await withReadDeadline(request.signal, advice, search)
      await sendPage(reply, data, rest)
    },
  })
}
