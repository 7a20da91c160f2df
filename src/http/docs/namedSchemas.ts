import { isDeepStrictEqual } from 'node:util'

/** Carries the `$id` of a schema through the generator, which drops `$id` or renames it depending on where it stands. */
const nameKeyword = 'x-schema-name'

/** A value of JSON. */
type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Copies schemas of a route; those with an `$id`, at any depth, can then be found by `moveNamedSchemas`. */
export function markNamedSchemas<Schema>(schema: Schema): Schema {
  const text = JSON.stringify(schema, (_key, part) => {
    if (typeof part?.$id !== 'string') return part
    const { $id, ...rest } = part
    return { [nameKeyword]: $id, ...rest }
  })
  return JSON.parse(text)
}

/**
 * Moves every marked schema to `components.schemas` and refers to it there, so that generated clients have one type for
 * each.
 * @throws Error when two different schemas have the same `$id`
 */
export function moveNamedSchemas<Document extends object>(document: Document): Document {
  const named: Record<string, Json> = {}
  const move = (node: Json): Json => {
    if (Array.isArray(node)) return node.map(move)
    if (typeof node !== 'object' || node === null) return node
    const { [nameKeyword]: name, ...rest } = node
    const schema = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, move(value)]))
    if (typeof name !== 'string') return schema
    if (!isDeepStrictEqual(named[name] ?? schema, schema)) throw new Error(`Two schemas have the $id ${name}.`)
    named[name] = schema
    return { $ref: `#/components/schemas/${name}` }
  }
  const moved = move(document as unknown as Json) as unknown as { components: { schemas: object } }
  Object.assign(moved.components.schemas, named)
  return moved as unknown as Document
}
