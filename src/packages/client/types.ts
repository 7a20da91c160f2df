import type { components, paths } from './api.ts'

/** The paths with a GET operation that has a part. */
type PathWith<Part> = { [Path in keyof paths]: paths[Path] extends { get: Part } ? Path : never }[keyof paths]

/** A path with a GET operation, as in the documentation: `/clicks`, `/campaigns/{id}`. */
export type ReadPath = PathWith<object>

/** The response body of a path. */
export type ResponseOf<Path extends ReadPath> = paths[Path] extends { get: { responses: { 200: infer Response } } }
  ? Complete<JsonOf<Response>>
  : never

/** The rows of a list are incomplete only with the parameter `fields`, which only exports send. */
type Complete<Body> = Body extends { data: (infer Row)[]; nextCursor: string | null }
  ? Omit<Body, 'data'> & { data: Required<Row>[] }
  : Body extends { bucketCount: number; data: (infer Row)[] }
    ? Omit<Body, 'data' | 'totals'> & {
        data: (Row & OfNames)[]
        totals: Body extends { totals: infer All } ? All & OfNames : never
      }
    : Body

/** Metrics of the events of one name. */
type OfNames = { [name: `events:${string}` | `eventVisitors:${string}`]: number | undefined }

/** A page of a list, by cursors, or of a report, by offsets. */
type Page = { data: unknown[] } & ({ nextCursor: string | null } | { truncated: boolean })

/** A path with pages. */
export type ListPath = { [Path in ReadPath]: ResponseOf<Path> extends Page ? Path : never }[ReadPath]

/** A path with rows that can be exported. */
export type ExportPath = ListPath & PathWith<{ responses: { 200: { content: { 'application/x-ndjson': unknown } } } }>

/** A row of a list. */
export type RowOf<Path extends ListPath> = ResponseOf<Path> extends { data: (infer Row)[] } ? Row : never

/** The name of a field of a row. */
export type RowFieldOf<Path extends ListPath> = keyof RowOf<Path> & string

/** The name of a field of an export: of `subIds` also the name of each, and dimensions, which it has only if they are named. */
export type FieldOf<Path extends ListPath> =
  | RowFieldOf<Path>
  | ('subIds' extends keyof RowOf<Path> ? SubId : never)
  | DimensionOf<Path>

type DimensionOf<Path extends ListPath> = Exclude<NamedField<Path>, RowFieldOf<Path> | SubId | 'cursor'>
type NamedField<Path extends ListPath> =
  Declared<Path> extends { query?: { fields?: readonly (infer Name extends string)[] } } ? Name : never

type SubId = keyof components['schemas']['SubIds']

/** A row of an export with the selected fields; pass its `cursor` to continue after it. */
export type ExportedRow<Path extends ExportPath, Field extends FieldOf<Path> = RowFieldOf<Path>> = Pick<
  RowOf<Path>,
  keyof RowOf<Path> & (Field | 'id' | (Field extends SubId ? 'subIds' : never))
> &
  Record<Field & DimensionOf<Path>, string | null> & { cursor: string }

/** The JSON body of a message. */
export type JsonOf<Message> = Message extends { content: { 'application/json': infer Body } } ? Body : never

/** Options of every call. */
export interface CallOptions {
  /** Aborts the request, its waits and its retries. */
  signal?: AbortSignal
}

/** Options of an export. */
export interface ExportOptions<Field extends string = string> extends CallOptions {
  /** The fields of the rows, besides `id` and, in `exportRows` and `exportBatches`, `cursor`. All by default. */
  fields?: readonly Field[]
  /**
   * Called once, with the `X-As-Of` of the first response: the `updated_since` that reads all rows which the export may have
   * missed.
   */
  onAsOf?: (asOf: string) => void
  /** Parses a row; `JSON.parse` by default, whose doubles lose digits of amounts above 9 billion with six decimals. */
  parse?: (line: string) => unknown
}

/** Parameters of files, and those that change the rows of a response, which the types of these functions do not express. */
type FormatParameter<Path extends ReadPath> =
  | ('format' | 'csv_escape' | 'csv_bom' | 'csv_decimal' | 'totals')
  | (Path extends ExportPath ? 'fields' : never)

/** `query` and `path` of a GET request, and its options; optional if no parameter is required. */
export type ReadArguments<Path extends ReadPath> = Arguments<Parameters<Path, FormatParameter<Path>>, CallOptions>

/** The same for an export, which has no pages. */
export type ExportArguments<Path extends ExportPath, Field extends FieldOf<Path> = RowFieldOf<Path>> = Arguments<
  Parameters<Path, FormatParameter<Path> | 'limit'>,
  ExportOptions<Field>
>

/** The parameters in the query of a GET request. */
export type QueryOf<Path extends ReadPath> =
  Declared<Path> extends { query?: infer Query } ? Without<NonNullable<Query>, FormatParameter<Path>> : never

type Arguments<Declared, Options> = object extends Declared
  ? [request?: Declared & Options]
  : [request: Declared & Options]

type Declared<Path extends ReadPath> = paths[Path] extends { get: { parameters: infer Found } } ? Found : never

type Parameters<Path extends ReadPath, Excluded extends string> = {
  [Part in keyof Declared<Path> as Extract<Part, 'query' | 'path'>]: Without<Declared<Path>[Part], Excluded>
}

/** Distributes over a union, so that an absent part stays absent. */
type Without<Values, Names extends string> = Values extends object
  ? {
      [Name in keyof Values as Exclude<Name, Names>]: Name extends 'filters'
        ? readonly Condition<keyof Values & string>[] | Values[Name]
        : OneOrMore<'metrics' extends keyof Values ? OfReport<Name, Values[Name]> : Values[Name]>
    }
  : Values

/** Parameters of reports that also take names with a name of the caller, which the types of the document express as any text. */
interface Named {
  group_by: (components['schemas']['ApiSchema']['dimensions'][number]['name'] | `property:${string}`)[]
  metrics: Metric[]
  sort: `${'' | '-'}${'id' | `${'' | 'change.'}${Metric}`}`
}
type Metric = keyof components['schemas']['SelectedMetrics'] | keyof OfNames
type OfReport<Name, Value> = Name extends keyof Named ? Named[Name] : Value

/** A list of names may also be one name, or a text with commas; a text, such as a filter, may be an array of literal values. */
type OneOrMore<Value> = Value extends readonly (infer Name extends string)[]
  ? Name | readonly Name[] | `${Name},${string}`
  : string extends Value
    ? Value | readonly string[]
    : Value

/** A condition of the parameter `filters`. Only reports compare metrics, at the top level. @typeParam Filter names of filters */
export type Condition<Filter extends string = string> =
  | readonly ['is' | 'is_not' | 'contains' | 'contains_not', Filter, readonly string[]]
  | readonly ['and' | 'or', readonly Condition<Filter>[]]
  | readonly ['not', Condition<Filter>]
  | readonly ['=' | '>' | '>=' | '<' | '<=', Metric, number]

/** The body of `POST /events`. */
export type Event = JsonOf<NonNullable<paths['/events']['post']['requestBody']>>

/** The result of one event of a batch. */
type EventResult = JsonOf<paths['/events/batch']['post']['responses'][200]>['results'][number]
/** An event that the API rejected, and why; events with `retryAfter` can be sent again. */
export type RejectedEvent = Omit<Extract<EventResult, { error: string }>, 'index'> & { event: Event; eventId: string }
/** The number of events that were sent, by result. */
export interface SentEvents {
  stored: number
  deduplicated: number
  overCeiling: number
  rejected: RejectedEvent[]
}

/** A row of the feed: fields of the API, each as the API returns it, or as a text or number. */
export type FeedRow =
  | FeedRowOf<'clicks', '/clicks', 'id' | 'clickedAt'>
  | FeedRowOf<'conversions', '/conversions', 'id' | 'convertedAt' | 'status'>
  | StatusRow
  | FeedRowOf<'costs', '/costs', 'spentAt' | 'cost'>
  | FeedRowOf<'pixel-events', '/events', 'id' | 'eventName'>
  | FeedRowOf<'campaigns', '/campaigns', 'id' | 'name'>
  | FeedRowOf<'offers', '/offers', 'id' | 'name'>
  | FeedRowOf<'landing-pages', '/landing-pages', 'id' | 'name'>
  | FeedRowOf<'traffic-sources', '/traffic-sources', 'id' | 'name'>

/** Changes stored conversions: of its id, or of its transaction. */
type StatusRow = { accountId: string; resource: 'conversion-statuses'; exchangeRate?: string | number } & Pick<
  FeedRowOf<'conversions', '/conversions', 'status' | 'updatedAt'>,
  'status' | 'updatedAt' | 'id' | 'transactionId' | 'externalStatus' | 'payout' | 'revenue' | 'revenueBase'
>

type FeedRowOf<Resource extends string, Path extends ListPath, Required extends RowFieldOf<Path>> = {
  accountId: string
  resource: Resource
} & { [Name in Required]: RowOf<Path>[Name] | string | number } & {
  [Name in RowFieldOf<Path>]?: RowOf<Path>[Name] | string | number | undefined
} & ('subIds' extends RowFieldOf<Path>
    ? { [Name in SubId | 'exchangeRate']?: string | number | null | undefined }
    : object)
