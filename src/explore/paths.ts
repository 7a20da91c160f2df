// Apart from request.ts, which needs the types of the DOM: tests without them import dimensions.ts.
import type { paths } from '../packages/client/api.ts'

/** A path with a GET operation whose parameters are all in the query. */
export type QueryPath = {
  [Path in keyof paths]: paths[Path] extends { get: { parameters: { path?: never } } } ? Path : never
}[keyof paths]

export type QueryOf<Path extends QueryPath> = paths[Path] extends { get: { parameters: { query?: infer Query } } }
  ? [Query] extends [undefined]
    ? Record<string, never>
    : NonNullable<Query>
  : never
