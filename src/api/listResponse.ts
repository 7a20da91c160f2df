import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { cursorField } from '../../schema/fields.ts'
import { listFormats, type RowFormat } from '../../schema/rowFormat.ts'
import type { Scope } from '../../schema/scopes.ts'
import type { Caller } from '../http/caller.ts'
import type { App, RouteContext } from '../http/context.ts'
import { setRetainedFrom } from '../http/retainedHeader.ts'
import { streamFormat } from '../http/streaming.ts'
import { writeBody } from '../http/writeBody.ts'
import { Problem } from '../problem.ts'
import { type View, visible } from '../query/keyView.ts'
import type { PageRows } from '../query/list.ts'
import type { ListPlan, ListQuery } from '../query/listPlan.ts'
import type { ListedResource } from '../query/readContext.ts'
import { toInstantText } from '../query/timeRange.ts'
import { readWatermark } from '../query/watermark.ts'
import { type ExportOptions, eventExportSettings, rowFormatSettings } from '../rows/clickhouseOutputFormat.ts'
import { entityFields, entityIdNames } from '../rows/entityNames.ts'
import type { RowField } from '../rows/exportFields.ts'
import type { RowContext } from '../rows/nameCache.ts'
import { parseFields, parsePageFields } from '../rows/selectedFields.ts'
import { streamBytes } from '../stores/clickhouse/select.ts'
import type { Fragment } from '../stores/clickhouse/sql.ts'
import { withDeadline } from '../stores/timing/deadline.ts'

/** A list in ClickHouse that is read page by page, or exported in one response. */
interface List<Query extends TObject, Plan extends ListPlan> {
  resource: ListedResource
  scope: Scope
  description: string
  query: Query
  page: TSchema
  makePlan(query: Static<Query>, caller: Caller, nowMs: number): Plan
  /** @returns a page of rows with the selected fields */
  listRows(context: RowContext, plan: Plan): Promise<PageRows>
  /** As in `FastifyContextConfig`; by default all views. */
  servesView?: (view: View) => boolean
  /** @param entities ids and names of campaigns and other entities */
  exportSql(plan: Plan, entities: readonly RowField[], options: ExportOptions): Fragment
}

/** Adds the route of a list. */
export function addList<Query extends TObject, Plan extends ListPlan>(
  app: App,
  context: RouteContext,
  list: List<Query, Plan>,
): void {
  const { resource, scope, servesView = () => true, description, query, page } = list
  app.get(`/${resource}`, {
    schema: {
      tags: [resource.charAt(0).toUpperCase() + resource.slice(1)],
      summary: `List ${resource}`,
      description,
      querystring: query,
      response: { 200: page },
    },
    config: { scope, servesView, formats: listFormats },
    handler: (request, reply) => sendList(context, request, reply, list),
  })
}

/**
 * Sends one page as JSON, or streams all rows in another format, with the watermark in `X-As-Of` and from when rows are
 * retained in `X-Retained-From`.
 * @throws Problem as `makePlan`, `invalid_limit`, `invalid_csv_escape`, `invalid_csv_bom`, `invalid_csv_decimal`, `invalid_fields`, `rate_limited`
 */
async function sendList<Query extends TObject, Plan extends ListPlan>(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { resource, page, makePlan, listRows, exportSql }: List<Query, Plan>,
): Promise<void> {
  const { stores, now } = context
  const query = request.query as ListQuery & Static<Query>
  const { view } = request.caller
  const plan = makePlan(query, request.caller, now())
  const { accountId, retained } = plan
  const names = Object.keys(page.properties.data.items.properties)
  const shown = view && view.hiddenNames.size > 0 ? visible(names, view) : undefined
  const format = streamFormat(request, query)
  if (!format) {
    const selected = parsePageFields(query.fields ?? shown?.join(), resource)
    return await sendRead(context, request, reply, 'add filters or request a shorter range', async (read) => {
      const isByStoredAt = plan.updatedSinceMs !== undefined
      const asOfMs = isByStoredAt ? await readWatermark(read, accountId, resource) : undefined
      const rows = await listRows(read, { ...plan, asOfMs, selected })
      return { ...rows, asOf: asOfMs === undefined || view ? null : toInstantText(asOfMs), ...retained }
    })
  }
  const asOfMs = await readWatermark({ stores, signal: request.signal }, accountId, resource)
  // It would say when other rows came.
  if (!view) reply.header('x-as-of', toInstantText(asOfMs))
  setRetainedFrom(reply, retained)
  const file = { resource, ...plan, format, csv: query }
  await context.streaming.send(request, reply, file, (signal) => exportRows(format, { ...plan, asOfMs }, signal))

  async function* exportRows(format: RowFormat, dated: Plan, signal: AbortSignal): AsyncGenerator<Buffer> {
    const selected = parseFields(query.fields ?? shown?.concat(cursorField).join())
    const ids = resource === 'events' ? (['campaignId'] as const) : entityIdNames
    const entities = await entityFields(stores.postgresReader, accountId, ids, selected)
    const sql = exportSql(dated, entities, { format, csvEscape: query.csv_escape, selected })
    const settings = resource === 'events' ? { ...rowFormatSettings, ...eventExportSettings } : rowFormatSettings
    yield* streamBytes(stores.clickhouse, sql, { label: `${resource}.export`, signal, settings })
  }
}

/** Maximum duration of a page or a search with all its queries; equal to the limit of one query. */
const readTimeoutMs = 20_000

/**
 * Runs a read of several queries with one deadline. Its signal aborts when the client disconnects and at the deadline, and
 * ends queries of ClickHouse and searches in Postgres. Look-ups by key in Postgres (names, watermarks) continue, and their
 * results are dropped.
 * @param disconnected aborts when the client disconnects
 * @param advice what the caller can do: `request a shorter range`
 * @throws Problem `query_timeout` at the deadline
 */
export async function withReadDeadline<Result>(
  disconnected: AbortSignal,
  advice: string,
  read: (signal: AbortSignal) => Promise<Result>,
  timeoutMs = readTimeoutMs,
): Promise<Result> {
  const message = `The request did not finish within ${timeoutMs / 1000} s; ${advice}.`
  return await withDeadline(
    timeoutMs,
    () => new Problem('query_timeout', message, { retryAfterS: 5 }),
    (deadline) => read(AbortSignal.any([disconnected, deadline])),
  )
}

/** Reads a page, as `withReadDeadline` does, and sends it. */
export async function sendRead(
  context: RouteContext,
  { signal }: FastifyRequest,
  reply: FastifyReply,
  advice: string,
  read: (context: RowContext) => Promise<PageRows>,
): Promise<void> {
  const { data, ...rest } = await withReadDeadline(signal, advice, (signal) => read({ ...context, signal }))
  await sendPage(reply, data, rest)
}

/**
 * Sends a page as JSON: the rows, then the other fields of the page.
 * @param data JSON of the rows
 */
export async function sendPage(reply: FastifyReply, data: readonly string[], rest: object): Promise<void> {
  const rows = data.map((row, index) => (index === 0 ? row : `,${row}`))
  const body = await writeBody(['{"data":[', ...rows, `],${JSON.stringify(rest).slice(1)}`])
  await reply.type('application/json; charset=utf-8').send(body)
}
