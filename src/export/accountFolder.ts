import { FormatRegistry, type Static, type TOptional, Type } from '@sinclair/typebox'
import { KeyView } from '../../schema/keyView.ts'
import { idPattern } from '../../schema/scalars.ts'
import { type Scope, scopes } from '../../schema/scopes.ts'
import { type ResourceName, resourceNames } from '../import/resourceNames.ts'

/** Name of the file that describes an exported account; it is in the folder of the files of rows. */
export const manifestName = 'account.json'

/** A pattern would accept month 99, and `Date.parse` February 30. */
function isMoment(text: string): boolean {
  const ms = Date.parse(text)
  // Postgres reads no year of more than four digits in this form.
  return ms >= 0 && text.length === 24 && new Date(ms).toISOString() === text
}

const isPastMoment = (text: string): boolean => isMoment(text) && Date.parse(text) <= Date.now()

/** Whether a text can be the name of an account or a key. */
export const isDisplayName = (text: string): boolean =>
  text !== '' && text.length <= 200 && !/\p{Cc}/u.test(text) && text.isWellFormed()

FormatRegistry.Set('moment', isMoment)
FormatRegistry.Set('past moment', isPastMoment)
FormatRegistry.Set('past month', (text) => isPastMoment(text) && text.endsWith('-01T00:00:00.000Z'))
FormatRegistry.Set('display name', isDisplayName)

/** A time from 1970 on, as `toISOString` writes it. */
const Moment = Type.String({ format: 'moment', description: 'a time such as 2026-11-21T03:00:00.000Z' })

/** The same, not in the future by the clock of this machine. */
const PastMoment = Type.String({ format: 'past moment', description: 'a past time' })

/** The start of a UTC month that has begun. */
const PastMonth = Type.String({ format: 'past month' })

const DisplayName = Type.String({
  format: 'display name',
  description: '1 to 200 characters without control characters',
})
const MomentOrNull = Type.Union([Moment, Type.Null()], { description: 'a time, or null' })
const Id = Type.String({ pattern: idPattern, description: '1 to 64 letters, digits and _ . : -' })
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 in hexadecimal' })
const scopeNames = Type.Union(
  scopes.map((scope) => Type.Literal(scope)),
  { description: `one of ${scopes.join(', ')}` },
)

const ExportedKey = Type.Object({
  id: Id,
  name: DisplayName,
  hash: Sha256,
  prefix: Type.String({ pattern: '^trb_(live|part)_[0-9A-Za-z]{4}$', description: 'a prefix and 4 letters or digits' }),
  scopes: Type.Array(Type.Unsafe<Scope>(scopeNames)),
  // Version 1.2 and earlier have no such keys.
  view: Type.Optional(Type.Union([KeyView, Type.Null()], { description: 'a part that this version knows, or null' })),
  createdAt: Moment,
  expiresAt: MomentOrNull,
  revokedAt: MomentOrNull,
  lastUsedAt: MomentOrNull,
  replacedBy: Type.Union([Id, Type.Null()], { description: 'the id of another key, or null' }),
})

/** A visitor or click that was erased, as a keyed hash: rows of it that are imported later are blanked. */
export const ExportedErasure = Type.Object({
  kind: Type.Union([Type.Literal('visitor'), Type.Literal('click')], { description: 'visitor or click' }),
  key: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', description: 'a UUID' }),
  hash: Type.String({ pattern: '^[0-9A-F]{64}$', description: 'SHA-256 in upper-case hexadecimal' }),
  erasedAt: PastMoment,
})

/** SHA-256 of the uncompressed content. */
const ExportedFile = Type.Object({ rows: Type.Integer({ minimum: 0 }), sha256: Sha256 })
export type ExportedFile = Static<typeof ExportedFile>

/** Whole UTC months; 0: all rows are retained; null: the setting of the plan. */
const Months = Type.Union([Type.Integer({ minimum: 0, maximum: 32_767 }), Type.Null()])
const MonthOrNull = Type.Union([PastMonth, Type.Null()], { description: 'the start of a past month, or null' })

/** How long clicks and events are retained, and what remains of those that were removed by age; null: all are retained. */
const ExportedRetention = Type.Object({
  clickMonths: Months,
  eventMonths: Months,
  clicksFrom: MonthOrNull,
  eventsFrom: MonthOrNull,
  files: Type.Record(Type.String(), ExportedFile, { description: 'sums and ids of removed clicks, by table' }),
})

/**
 * The format of the folders that this version writes and reads. A program may import a folder of the same format that a later
 * version wrote: it leaves out fields and files that it does not know.
 */
export const folderFormat = 1

/** What every version writes, in any format. */
export const ManifestHeader = Type.Object({
  format: Type.Integer({ minimum: 1 }),
  /** The program that exported the account. */
  program: Type.Object({ version: DisplayName, commit: DisplayName }),
})

export const Manifest = Type.Object({
  format: Type.Literal(folderFormat),
  program: ManifestHeader.properties.program,
  account: Type.Object({
    id: Id,
    name: DisplayName,
    plan: DisplayName,
    currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'three uppercase letters' }),
    createdAt: Moment,
  }),
  keys: Type.Array(ExportedKey),
  erasures: Type.Array(ExportedErasure),
  retained: ExportedRetention,
  files: Type.Object(
    // Version 1.1 and earlier write no costs.
    Object.fromEntries(
      resourceNames.map((name) => [name, name === 'costs' ? Type.Optional(ExportedFile) : ExportedFile]),
    ) as Record<Exclude<ResourceName, 'costs'>, typeof ExportedFile> & { costs: TOptional<typeof ExportedFile> },
    { additionalProperties: false },
  ),
})
export type Manifest = Static<typeof Manifest>

/** @returns the name of the file with the rows of a resource, or of the sums of removed clicks */
export const fileOf = (resource: string): string => `${resource}.ndjson.gz`
