import type { TObject, TSchema } from '@sinclair/typebox'
import { CompleteRow } from '../../../schema/fields.ts'
import type { NamedTable } from '../../../schema/metadata.ts'
import {
  Campaign,
  CampaignPage,
  itemPath,
  LandingPage,
  LandingPagePage,
  MetadataQuery,
  Offer,
  OfferPage,
  TrafficSource,
  TrafficSourcePage,
} from '../../../schema/metadata.ts'
import { listFormats } from '../../../schema/rowFormat.ts'
import type { Scope } from '../../../schema/scopes.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { streamFormat } from '../../http/streaming.ts'
import { checkCsvEscape } from '../../rows/csvEscape.ts'
import { readFields, readPageFields, selectInPage } from '../../rows/selectedFields.ts'
import { exportMetadata } from './export.ts'
import { planMetadata } from './plan.ts'
import { findMetadata, listMetadata } from './run.ts'

/** The metadata resources; they differ only in their names and rows. */
const resources: {
  path: string
  table: NamedTable
  scope: Scope
  tag: string
  /** In the singular. */
  one: string
  /** Id of a row of the demo account. */
  example: string
  row: TObject
  page: TSchema
}[] = [
  {
    path: '/campaigns',
    table: 'campaigns',
    scope: 'read:campaigns',
    tag: 'Campaigns',
    one: 'campaign',
    example: 'cmp-luma-meta-broad',
    row: Campaign,
    page: CampaignPage,
  },
  {
    path: '/offers',
    table: 'offers',
    scope: 'read:offers',
    tag: 'Offers',
    one: 'offer',
    example: 'off-luma-blanket',
    row: Offer,
    page: OfferPage,
  },
  {
    path: '/landing-pages',
    table: 'landing_pages',
    scope: 'read:landing-pages',
    tag: 'Landing pages',
    one: 'landing page',
    example: 'lp-luma-quiz',
    row: LandingPage,
    page: LandingPagePage,
  },
  {
    path: '/traffic-sources',
    table: 'traffic_sources',
    scope: 'read:traffic-sources',
    tag: 'Traffic sources',
    one: 'traffic source',
    example: 'src-meta',
    row: TrafficSource,
    page: TrafficSourcePage,
  },
]

export function metadataRoutes(app: App, context: RouteContext): void {
  for (const { path, table, scope, tag, one, example, row, page } of resources) {
    app.get(
      path,
      {
        schema: {
          tags: [tag],
          summary: `List ${tag.toLowerCase()}`,
          description: `${tag} of the account, newest first.`,
          querystring: MetadataQuery(row),
          response: { 200: page },
        },
        config: { scope, formats: listFormats },
      },
      async (request, reply) => {
        const plan = planMetadata(table, request.query, request.caller)
        const { format: wanted, csv_escape: csvEscape, fields } = request.query
        const format = streamFormat(request, listFormats, wanted)
        checkCsvEscape(csvEscape, format)
        if (!format) {
          const selected = readPageFields(fields)
          return selectInPage(await listMetadata(context, plan), selected)
        }
        const selected = readFields(fields)
        return await context.streaming.send(request, reply, format, (signal) =>
          exportMetadata(context, plan, { row, format, csvEscape, selected }, signal),
        )
      },
    )
    app.get(
      `${path}/:id`,
      {
        schema: {
          tags: [tag],
          summary: `Get ${/^[aeiou]/.test(one) ? 'an' : 'a'} ${one}`,
          description: `The same row as in the list of ${tag.toLowerCase()}.`,
          params: itemPath(example),
          response: { 200: CompleteRow(row) },
        },
        config: { scope },
      },
      (request) => findMetadata(context, table, request.caller.accountId, request.params.id),
    )
  }
}
