import type { FastifyReply, FastifyRequest } from 'fastify'
import { wantsCsv } from '../http/contentNegotiation.ts'
import type { RouteContext } from '../http/context.ts'
import type { CsvResponse, DatedResponse } from '../http/responseCache.ts'
import { setRetainedFrom } from '../http/retainedHeader.ts'
import type { RetainedFrom } from '../query/retained.ts'
import { type CsvEscape, checkCsvEscape } from '../rows/csvEscape.ts'

/**
 * Sends a table in the format of the request, from the response cache.
 * @throws Problem `invalid_csv_escape`, or as `makePlan` and `run`
 */
export function sendTable<Plan extends { retained: RetainedFrom }, Response extends DatedResponse>(
  context: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { format, csv_escape: csvEscape }: { format?: 'csv' | 'json'; csv_escape?: CsvEscape },
  makePlan: () => Plan,
  run: (context: RouteContext, plan: Plan, signal: AbortSignal) => Promise<Response>,
  toCsv: (response: Response, plan: Plan) => CsvResponse,
): Promise<void> {
  const isCsv = wantsCsv(request, format)
  checkCsvEscape(csvEscape, isCsv ? 'csv' : undefined)
  if (!isCsv) return context.responseCache.send(request, reply, (signal) => run(context, makePlan(), signal))
  const plan = makePlan()
  setRetainedFrom(reply, plan.retained)
  return context.responseCache.sendCsv(request, reply, async (signal) => toCsv(await run(context, plan, signal), plan))
}
