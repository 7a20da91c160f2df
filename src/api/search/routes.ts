import {
  CampaignSearchPage,
  CampaignSearchQuery,
  ConversionSearchPage,
  ConversionSearchQuery,
} from '../../../schema/search.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { searchCampaigns } from './campaigns.ts'
import { searchConversions } from './conversions.ts'
import { withSearchDeadline } from './deadline.ts'
import { planCampaignSearch, planConversionSearch } from './plan.ts'

export function searchRoutes(app: App, context: RouteContext): void {
  app.get(
    '/conversions/search',
    {
      schema: {
        tags: ['Conversions'],
        summary: 'Search conversions',
        description:
          'Conversions with a field that contains the text, ignoring case, newest first; `matches` has the fields. Test conversions are excluded. `externalClickId` and `referrer` are those of the conversion’s click.',
        querystring: ConversionSearchQuery,
        response: { 200: ConversionSearchPage },
      },
      config: { scope: 'search:conversions' },
    },
    (request) => {
      const plan = planConversionSearch(request.query, request.caller)
      return withSearchDeadline(request.signal, (signal) => searchConversions(context, plan, signal))
    },
  )
  app.get(
    '/campaigns/search',
    {
      schema: {
        tags: ['Campaigns'],
        summary: 'Search campaigns',
        description:
          'Campaigns with a field that contains the text, ignoring case, newest first; `matches` has the fields.',
        querystring: CampaignSearchQuery,
        response: { 200: CampaignSearchPage },
      },
      config: { scope: 'search:campaigns' },
    },
    (request) => {
      const plan = planCampaignSearch(request.query, request.caller)
      return withSearchDeadline(request.signal, (signal) => searchCampaigns(context, plan, signal))
    },
  )
}
