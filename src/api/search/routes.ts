import {
  CampaignSearchPage,
  CampaignSearchQuery,
  ConversionSearchPage,
  ConversionSearchQuery,
} from '../../../schema/search.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { sendRead } from '../listResponse.ts'
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
    handler: (request, reply) => {
      const plan = planSearch('conversions/search', request.query, request.caller)
      return sendRead(context, request, reply, advice, (read) => searchConversions(read, plan))
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
    handler: (request, reply) => {
      const plan = planSearch('campaigns/search', request.query, request.caller)
      return sendRead(context, request, reply, advice, (read) => searchCampaigns(read, plan))
    },
  })
}
