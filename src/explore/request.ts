import { createContext } from 'preact'
import { useContext, useLayoutEffect, useState } from 'preact/hooks'
import type { components } from '../packages/client/api.ts'
import { checkedKey } from '../packages/client/apiKey.ts'
import { TributaryError } from '../packages/client/error.ts'
import { openRetries, type Retries } from '../packages/client/retries.ts'
import { delay } from '../packages/client/timeout.ts'
import type { QueryOf, ReadPath, ResponseOf } from '../packages/client/types.ts'
import { dateIn } from './dates.ts'
import { filterNames } from './dimensions.ts'

const selection: readonly string[] = [...filterNames, 'range', 'from', 'to', 'tz', 'compare_from', 'compare_to']

/** The query of the page after a page of a report. */
export const nextQuery = ({ next }: ResponseOf<'/reports'>) =>
  next === null ? undefined : (Object.fromEntries(new URLSearchParams(next)) as unknown as QueryOf<'/reports'>)

export type ApiRequest<Path extends ReadPath = ReadPath> = { path: Path; query: object }

export interface Session {
  apiKey: string
  key: components['schemas']['Key']
  /** Increases when all panels are to be read again. */
  revision: number
}

type Scope = Session['key']['scopes'][number]

/** Paths whose scopes have other names. */
const scopeNames: Readonly<Record<string, string>> = { costs: 'reports', journeys: 'events', funnels: 'events' }

/** The scope of a path, such as `read:stats` of `/stats/daily`. */
function scopeOf(path: ReadPath): Scope {
  const [, name = ''] = path.split('/')
  return `read:${scopeNames[name] ?? name}` as Scope
}

export const SessionContext = createContext<Session>(undefined as unknown as Session)
export const useSession = () => useContext(SessionContext)

/** Names of values in the reports that were read for the key, by dimension and id. */
export const valueNames = new Map<string, string>()

function keepNames({ data }: ResponseOf<'/reports'>): void {
  for (const [dimension, { id, name }] of data.flatMap((row) => Object.entries(row.dimensions)))
    if (name !== null) valueNames.set(`${dimension} ${id}`, name)
}

/** The dates of the numbers, for the names of files, and whether files have a decimal comma. */
export const FileContext = createContext({ current: { dates: '', hasComma: false } })

// The page, which a proxy may serve below a path of its own, is beside the API.
export const baseUrl = new URL('.', location.href).href.replace(/\/$/, '')

/**
 * State of a request. While a new request is loading or waiting, `data` is the response to the one before.
 * `waiting`: the API is busy; the request is sent again at `untilMs`.
 */
type State<Body> =
  | { phase: 'loading'; data?: Body | undefined }
  | { phase: 'waiting'; data?: Body | undefined; untilMs: number; status: number | undefined }
  | { phase: 'error'; data?: undefined; error: unknown }
  | { phase: 'ready'; data: Body }

/** A request, the scopes for it that the key lacks, and its state. It is sent when it is wanted and no scope is missing. */
export type Loaded<Body> = { request: ApiRequest | undefined; missing: readonly Scope[] } & State<Body>

/** The address of a request; it can be quoted with `'` in a shell. */
export function requestUrl({ path, query }: ApiRequest): string {
  const defined = Object.entries(query).filter(([, value]) => value !== undefined)
  return `${baseUrl}/api/v1${path}?${new URLSearchParams(defined)}`.replaceAll('%2C', ',')
}

/**
 * Sends a GET request.
 * @throws TributaryError; the error of `fetch` if there is no response
 */
export async function send(
  fetch: Retries['fetch'],
  apiKey: string,
  address: string,
  signal?: AbortSignal,
): Promise<Response> {
  const headers = { authorization: `ApiKey ${checkedKey(apiKey)}` }
  const response = await fetch(new Request(address, { headers, signal: signal ?? null }))
  if (!response.ok) throw new TributaryError(response.status, await response.json().catch(() => ({})))
  return response
}

/**
 * Reads the response to a request; the request is repeated as the API says while the API is busy.
 * @param onWait called before a wait, with its end and the status of the last response; undefined: there was none
 * @throws as `send`
 */
export async function get<Path extends ReadPath>(
  apiKey: string,
  request: ApiRequest<Path>,
  signal: AbortSignal,
  onWait: (untilMs: number, status: number | undefined) => void,
): Promise<ResponseOf<Path>> {
  const { fetch } = openRetries({
    wait: (ms, waitSignal, status) => {
      onWait(Date.now() + ms, status)
      return delay(ms, waitSignal)
    },
  })
  return (await send(fetch, apiKey, requestUrl(request), signal)).json()
}

/**
 * Reads a path and reads it again when the query changes; a request that is no longer wanted is aborted.
 * @param query undefined: none yet; the state is `loading`, as for a key without the scopes
 * @param more scopes that the query needs beside the scope of the path
 */
export function useGet<Path extends ReadPath>(
  path: Path,
  query: QueryOf<Path> | undefined,
  more: readonly Scope[] = [],
): Loaded<ResponseOf<Path>> {
  const { apiKey, key, revision } = useSession()
  const request = query === undefined ? undefined : { path, query }
  const missing = [scopeOf(path), ...more].filter((scope) => !key.scopes.includes(scope))
  // A range such as `yesterday` has other dates on the next day.
  const { tz = 'UTC' }: { tz?: string } = query ?? {}
  const identity = JSON.stringify([missing, request, apiKey, revision, dateIn(tz, Date.now())])
  const [state, setState] = useState<{ identity: string; current: State<ResponseOf<Path>> }>()
  // `identity` has the request and the key. Sent before the browser paints.
  useLayoutEffect(() => {
    if (!request || missing.length > 0) return
    const abort = new AbortController()
    const set = (change: (data: ResponseOf<Path> | undefined) => State<ResponseOf<Path>>) => {
      if (!abort.signal.aborted) setState((before) => ({ identity, current: change(before?.current.data) }))
    }
    const onWait = (untilMs: number, status: number | undefined) =>
      set((data) => ({ phase: 'waiting', data, untilMs, status }))
    get(apiKey, request, abort.signal, onWait).then(
      (data) => {
        if ('groupBy' in data) keepNames(data as unknown as ResponseOf<'/reports'>)
        set(() => ({ phase: 'ready', data }))
      },
      (error: unknown) => set(() => ({ phase: 'error', error })),
    )
    return () => abort.abort()
  }, [identity])
  const current: State<ResponseOf<Path>> =
    state?.identity === identity ? state.current : { phase: 'loading', data: state?.current.data }
  return { request: request as ApiRequest | undefined, missing, ...current }
}

/** Whether the API rejected the range or a filter of the view. The bar of the filters says why, once for all panels. */
export function isOfSelection(error: unknown): error is TributaryError {
  return (
    error instanceof TributaryError && (error.code === 'invalid_date_range' || selection.includes(error.param ?? ''))
  )
}

export function errorText(error: unknown): string {
  if (!(error instanceof TributaryError)) return 'The server cannot be reached.'
  return error.requestId ? `${error.message} Request: ${error.requestId}` : error.message
}
