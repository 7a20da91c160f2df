import {
  CampaignSearchPage,
  CampaignSearchQuery,
  ConversionSearchPage,
  ConversionSearchQuery,
} from '../../../schema/search.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { searchCampaigns } from './campaigns.ts'
import { searchConversions } from './conversions.ts'
import { withDeadline } from './deadline.ts'
import { planCampaignSearch, planConversionSearch } from './plan.ts'

export function searchRoutes(app: App, context: RouteContext): void {
  app.get(
    '/conversions/search',
    {
      schema: {
        tags: ['Conversions'],
        summary: 'Conversions that hold a text, newest first',
        description:
          'Finds the text anywhere in the fields, whatever its case; each row says where. Tests are left out. `externalClickId` and `referrer` are those of the conversion’s click.',
        querystring: ConversionSearchQuery,
        response: { 200: ConversionSearchPage },
      },
      config: { scope: 'search:conversions' },
    },
    (request) => {
      const plan = planConversionSearch(request.query, request.caller)
      return withDeadline(request.signal, (signal) => searchConversions(context, plan, signal))
    },
  )
  app.get(
    '/campaigns/search',
    {
      schema: {
        tags: ['Campaigns'],
        summary: 'Campaigns that hold a text, newest first',
        description: 'Finds the text anywhere in the fields, whatever its case; each row says where.',
        querystring: CampaignSearchQuery,
        response: { 200: CampaignSearchPage },
      },
      config: { scope: 'search:campaigns' },
    },
    (request) => {
      const plan = planCampaignSearch(request.query, request.caller)
      return withDeadline(request.signal, (signal) => searchCampaigns(context, plan, signal))
    },
  )
}
