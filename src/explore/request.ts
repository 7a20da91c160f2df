import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import type { components } from '../packages/client/api.ts'
import { createTributary, type ResponseOf, TributaryError } from '../packages/client/client.ts'
import type { QueryOf, QueryPath } from './paths.ts'

/** A GET request to the API. */
export interface ApiRequest<Path extends QueryPath = QueryPath> {
  path: Path
  query: QueryOf<Path>
}

export function apiRequest<Path extends QueryPath>(path: Path, query: QueryOf<Path>): ApiRequest<Path> {
  return { path, query }
}

/** The API key, and what the API says of it. */
export interface Session {
  apiKey: string
  key: components['schemas']['Key']
  /** Increases when all panels are to be read again. */
  revision: number
}

export type Scope = Session['key']['scopes'][number]

/** The scopes that a key lacks. */
export function missingScopes({ scopes }: Session['key'], required: readonly Scope[]): readonly Scope[] {
  return required.filter((scope) => !scopes.includes(scope))
}

export const SessionContext = createContext<Session>(undefined as unknown as Session)
export const useSession = () => useContext(SessionContext)

// The page, which a proxy may serve below a path of its own, is beside the API.
export const baseUrl = new URL('.', location.href).href.replace(/\/$/, '')

/**
 * State of a request. While a new request is loading or waiting, `data` is the response to the one before.
 * `waiting`: the API is busy; the request is sent again at `untilMs`.
 */
export type Loaded<Body> =
  | { phase: 'loading'; data?: Body | undefined }
  | { phase: 'waiting'; data?: Body | undefined; untilMs: number; status: number | undefined }
  | { phase: 'error'; data?: undefined; error: unknown }
  | { phase: 'ready'; data: Body }

interface GetOptions {
  signal: AbortSignal
  /** Called before a wait, with its end and the status of the last response; undefined: there was none. */
  onWait?: (untilMs: number, status: number | undefined) => void
}

/**
 * Sends a request; it is repeated as the API says while the API is busy.
 * @throws TributaryError; the error of `fetch` if there is no response
 */
export async function get<Path extends QueryPath>(
  apiKey: string,
  { path, query }: ApiRequest<Path>,
  { signal, onWait }: GetOptions,
): Promise<ResponseOf<Path>> {
  let status: number | undefined
  const client = createTributary({
    baseUrl,
    apiKey,
    fetch: async (request) => {
      status = undefined
      const response = await fetch(request)
      status = response.status
      return response
    },
    wait: (ms, waitSignal) => {
      onWait?.(Date.now() + ms, status)
      return delay(ms, waitSignal)
    },
  })
  // The client has the arguments of each path; they cannot be inferred for a variable one.
  return (await client.get(path as '/clicks', { query, signal } as object)) as ResponseOf<Path>
}

/**
 * Reads a path and reads it again when the request changes; a request that is no longer wanted is aborted.
 * @param wanted undefined: none yet; the state is `loading`, as for a key without the scopes
 */
export function useGet<Path extends QueryPath>(
  wanted: ApiRequest<Path> | undefined,
  scopes: readonly Scope[],
): Loaded<ResponseOf<Path>> {
  const { apiKey, key, revision } = useSession()
  const request = missingScopes(key, scopes).length === 0 ? wanted : undefined
  const identity = JSON.stringify([request, apiKey, revision])
  const [state, setState] = useState<{ identity: string; loaded: Loaded<ResponseOf<Path>> }>()
  // `identity` has the request and the key.
  useEffect(() => {
    if (!request) return
    const abort = new AbortController()
    const set = (change: (data: ResponseOf<Path> | undefined) => Loaded<ResponseOf<Path>>) => {
      if (!abort.signal.aborted) setState((before) => ({ identity, loaded: change(before?.loaded.data) }))
    }
    get(apiKey, request, {
      signal: abort.signal,
      onWait: (untilMs, status) => set((data) => ({ phase: 'waiting', data, untilMs, status })),
    }).then(
      (data) => set(() => ({ phase: 'ready', data })),
      (error: unknown) => set(() => ({ phase: 'error', error })),
    )
    return () => abort.abort()
  }, [identity])
  return state?.identity === identity ? state.loaded : { phase: 'loading', data: state?.loaded.data }
}

/** An error in the words of the API, with the request id. */
export function describeError(error: unknown): { message: string; requestId?: string | undefined } {
  if (error instanceof TributaryError) return { message: error.message, requestId: error.requestId }
  return { message: 'The server cannot be reached.' }
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        reject(signal.reason)
      },
      { once: true },
    )
  })
}
