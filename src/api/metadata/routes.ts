import type { TSchema } from '@sinclair/typebox'
import type { NamedTable } from '../../../schema/metadata.ts'
import {
  Campaign,
  CampaignPage,
  ItemPath,
  LandingPage,
  LandingPagePage,
  MetadataQuery,
  Offer,
  OfferPage,
  TrafficSource,
  TrafficSourcePage,
} from '../../../schema/metadata.ts'
import type { Scope } from '../../../schema/scopes.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { planMetadata } from './plan.ts'
import { findMetadata, listMetadata } from './run.ts'

/** The four kinds of metadata differ in their names and their rows, and in nothing else. */
const kinds: {
  path: string
  table: NamedTable
  scope: Scope
  tag: string
  one: string
  row: TSchema
  page: TSchema
}[] = [
  {
    path: '/campaigns',
    table: 'campaigns',
    scope: 'read:campaigns',
    tag: 'Campaigns',
    one: 'One campaign',
    row: Campaign,
    page: CampaignPage,
  },
  {
    path: '/offers',
    table: 'offers',
    scope: 'read:offers',
    tag: 'Offers',
    one: 'One offer',
    row: Offer,
    page: OfferPage,
  },
  {
    path: '/landing-pages',
    table: 'landing_pages',
    scope: 'read:landing-pages',
    tag: 'Landing pages',
    one: 'One landing page',
    row: LandingPage,
    page: LandingPagePage,
  },
  {
    path: '/traffic-sources',
    table: 'traffic_sources',
    scope: 'read:traffic-sources',
    tag: 'Traffic sources',
    one: 'One traffic source',
    row: TrafficSource,
    page: TrafficSourcePage,
  },
]

export function metadataRoutes(app: App, context: RouteContext): void {
  for (const { path, table, scope, tag, one, row, page } of kinds) {
    app.get(
      path,
      {
        schema: {
          tags: [tag],
          summary: `${tag}, newest first`,
          querystring: MetadataQuery,
          response: { 200: page },
        },
        config: { scope },
      },
      (request) => listMetadata(context, planMetadata(table, request.query, request.caller)),
    )
    app.get(
      `${path}/:id`,
      {
        schema: { tags: [tag], summary: one, params: ItemPath, response: { 200: row } },
        config: { scope },
      },
      (request) => findMetadata(context, table, request.caller.accountId, request.params.id),
    )
  }
}
