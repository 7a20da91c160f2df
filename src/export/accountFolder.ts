import { createHash } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import { idPattern } from '../../schema/scalars.ts'
import { type ResourceName, resourceNames } from '../import/resourceNames.ts'
import { Moment, PastMoment } from './moment.ts'

/** Name of the file that describes an exported account; it is in the folder of the files of rows. */
export const manifestName = 'account.json'

const MomentOrNull = Type.Union([Moment, Type.Null()])
const Id = Type.String({ pattern: idPattern })

/** An API key, without its secret. */
const ExportedKey = Type.Object({
  id: Id,
  name: Type.String(),
  hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the key' }),
  prefix: Type.String(),
  scopes: Type.Array(Type.String()),
  createdAt: Moment,
  expiresAt: MomentOrNull,
  revokedAt: MomentOrNull,
  lastUsedAt: MomentOrNull,
  replacedBy: Type.Union([Id, Type.Null()]),
})

/** A visitor or click that was erased, as a keyed hash: rows of it that are imported later are blanked. */
const ExportedErasure = Type.Object({
  kind: Type.Union([Type.Literal('visitor'), Type.Literal('click')]),
  key: Type.String(),
  hash: Type.String({ pattern: '^[0-9A-F]{64}$' }),
  erasedAt: PastMoment,
})

const ExportedFile = Type.Object({
  rows: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ description: 'of the uncompressed content' }),
})
export type ExportedFile = Static<typeof ExportedFile>

/** Whole UTC months; 0: all rows are retained; null: the setting of the plan. */
const Months = Type.Union([Type.Integer({ minimum: 0, maximum: 32_767 }), Type.Null()])

/** How long clicks and events are retained, and what remains of those that were removed by age; null: all are retained. */
const ExportedRetention = Type.Object({
  clickMonths: Months,
  eventMonths: Months,
  clicksFrom: MomentOrNull,
  eventsFrom: MomentOrNull,
  files: Type.Record(Type.String(), ExportedFile, { description: 'sums and ids of removed clicks, by table' }),
})

/** The content of `account.json`. */
export const Manifest = Type.Object({
  format: Type.Literal(1),
  account: Type.Object({
    id: Id,
    name: Type.String(),
    plan: Type.String(),
    currency: Type.String({ pattern: '^[A-Z]{3}$' }),
    createdAt: Moment,
  }),
  keys: Type.Array(ExportedKey),
  erasures: Type.Array(ExportedErasure),
  retained: ExportedRetention,
  files: Type.Object(
    Object.fromEntries(resourceNames.map((name) => [name, ExportedFile])) as Record<ResourceName, typeof ExportedFile>,
  ),
})
export type Manifest = Static<typeof Manifest>

/** @returns the name of the file with the rows of a resource, or of the sums of removed clicks */
export function fileOf(resource: string): string {
  return `${resource}.ndjson.gz`
}

/** Yields the same bytes, and passes their SHA-256 to `onEnd`, in hexadecimal. */
export async function* hashed(chunks: AsyncIterable<Buffer>, onEnd: (sha256: string) => void): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
  onEnd(hash.digest('hex'))
}
