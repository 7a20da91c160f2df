import { type TObject, Type } from '@sinclair/typebox'
import { CompleteRow } from '../../../schema/fields.ts'
import {
  Campaign,
  LandingPage,
  MetadataQuery,
  type NamedTable,
  Offer,
  TrafficSource,
} from '../../../schema/metadata.ts'
import { Page } from '../../../schema/page.ts'
import { listFormats } from '../../../schema/rowFormat.ts'
import { Id } from '../../../schema/scalars.ts'
import type { Scope } from '../../../schema/scopes.ts'
import type { App, RouteContext } from '../../http/context.ts'
import { streamFormat } from '../../http/streaming.ts'
import { parseFields, parsePageFields } from '../../rows/selectedFields.ts'
import { sendPage } from '../listResponse.ts'
import { exportMetadata } from './export.ts'
import { findMetadata, listMetadata, planMetadata } from './page.ts'

/** The metadata resources, each with its rows and the id of a row of the demo account. */
const resources: { table: NamedTable; row: TObject; example: string }[] = [
  { table: 'campaigns', row: Campaign, example: 'cmp-luma-meta-broad' },
  { table: 'offers', row: Offer, example: 'off-luma-blanket' },
  { table: 'landing_pages', row: LandingPage, example: 'lp-luma-quiz' },
  { table: 'traffic_sources', row: TrafficSource, example: 'src-meta' },
]

export function metadataRoutes(app: App, context: RouteContext): void {
  const { postgres, postgresReader } = context.stores
  for (const { table, row, example } of resources) {
    const name = table.replace('_', '-') as 'campaigns' | 'offers' | 'landing-pages' | 'traffic-sources'
    const scope: Scope = `read:${name}`
    const rows = table.replace('_', ' ')
    const tag = rows.charAt(0).toUpperCase() + rows.slice(1)
    app.get(`/${name}`, {
      schema: {
        tags: [tag],
        summary: `List ${rows}`,
        description: `${tag} of the account, newest first.`,
        querystring: MetadataQuery(row),
        response: { 200: Page(row) },
      },
      config: { scope, formats: listFormats },
      handler: async (request, reply) => {
        const { caller, query } = request
        const plan = planMetadata(table, query, caller)
        const format = streamFormat(request, query)
        if (!format) {
          const { data, ...rest } = await listMetadata(postgres, plan, parsePageFields(query.fields))
          return await sendPage(reply, data, rest)
        }
        const options = { row, format, csvEscape: query.csv_escape, selected: parseFields(query.fields) }
        const file = { resource: name, accountId: caller.accountId, format, csv: query }
        return await context.streaming.send(request, reply, file, (signal) =>
          exportMetadata(postgresReader, plan, options, signal),
        )
      },
    })
    app.get(`/${name}/:id`, {
      schema: {
        tags: [tag],
        summary: `Get ${/^[aeiou]/.test(rows) ? 'an' : 'a'} ${rows.slice(0, -1)}`,
        description: `The same row as in the list of ${rows}.`,
        params: Type.Object({ id: Type.String({ ...Id, examples: [example] }) }),
        response: { 200: CompleteRow(row) },
      },
      config: { scope },
      handler: (request) => findMetadata(postgres, table, request.caller.accountId, request.params.id),
    })
  }
}
