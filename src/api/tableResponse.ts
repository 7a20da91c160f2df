import type { FastifyReply, FastifyRequest } from 'fastify'
import { tableFormats } from '../../schema/rowFormat.ts'
import { negotiateFormat } from '../http/contentNegotiation.ts'
import type { RouteContext } from '../http/context.ts'
import type { CsvResponse, DatedResponse } from '../http/responseCache.ts'
import { setRetainedFrom } from '../http/retainedHeader.ts'
import type { ComparedPlan, FactsCaller } from '../query/facts/plan.ts'
import { type CsvQuery, checkCsvParameters } from '../rows/csvEscape.ts'
import { byteOrderMark } from '../rows/csvWriter.ts'
import { attachmentHeader } from './attachment.ts'

type TableQuery = CsvQuery & { format?: 'csv' | 'json' }

/** A small table that the response cache may have. */
interface TableResponse<Query, Plan, Response> {
  /** In the name of a CSV file. */
  resource: string
  makePlan(query: Query, caller: FactsCaller, nowMs: number): Plan
  run(context: RouteContext, plan: Plan, signal: AbortSignal): Promise<Response>
  toCsv(response: Response, plan: Plan): CsvResponse
}

/**
 * Sends a table in the format of the request, from the response cache.
 * @throws Problem `invalid_csv_escape`, `invalid_csv_bom`, `invalid_totals`, or as `makePlan` and `run`
 */
export function sendTable<Query extends TableQuery, Plan extends ComparedPlan, Response extends DatedResponse>(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  query: Query,
  { resource, makePlan, run, toCsv }: TableResponse<Query, Plan, Response>,
): Promise<void> {
  const format = negotiateFormat(tableFormats, query.format, request.headers.accept)
  checkCsvParameters(query, format)
  const planNow = () => makePlan(query, request.caller, context.now())
  if (!format) return context.responseCache.send(request, reply, (signal) => run(context, planNow(), signal))
  const plan = planNow()
  setRetainedFrom(reply, plan.retained)
  return context.responseCache.sendCsv(request, reply, async (signal) => {
    const { text, headers } = toCsv(await run(context, plan, signal), plan)
    return {
      text: query.csv_bom ? byteOrderMark + text : text,
      headers: { ...headers, ...attachmentHeader({ resource, ...plan }, format) },
    }
  })
}
