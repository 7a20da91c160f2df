import { LRUCache } from 'lru-cache'
import { findAccounts } from '../accounts/accounts.ts'
import type { Line } from '../import/parsers/lines.ts'
import { rawRowOf } from '../import/parsers/ndjsonParser.ts'
import { id as idField } from '../import/readers/fieldTypes.ts'
import { type Input, jsonInput } from '../import/readers/input.ts'
import { isAbsent, type RawFields, type RowReader } from '../import/readers/rowDecoder.ts'
import { RowError } from '../import/readers/rowError.ts'
import { type ResourceName, resourceNames } from '../import/resourceNames.ts'
import { readerOf } from '../import/resources.ts'
import type { Postgres } from '../stores/postgres/connection.ts'
import type { Given } from '../writer/store/givenFields.ts'
import type { Conversion } from '../writer/tables/conversion.ts'
import type { PixelEvent } from '../writer/tables/pixelEvent.ts'
import type { FeedRow, RejectedRow } from './rows.ts'

/** What rows get from where they come from. */
export interface RowOrigin {
  /** `occurredAt` and `receivedAt` of events without them, epoch milliseconds. */
  readonly nowMs: number
  /** `updatedAt` of conversions without one, epoch milliseconds; undefined: their `createdAt` or `convertedAt`, as in an import. */
  readonly updatedAtMs: number | undefined
  /** Of two rows with one id, one `updatedAt` and one `importFile`, the row with the higher line wins. */
  readonly importFile: string
  /** Called for each conversion, in order. @param key of the conversion */
  lineOf(key: string): number
}

/** The two fields that say whose row it is are not fields of a resource. */
const feedInput: Input = {
  ...jsonInput,
  map: [
    ['accountId', ''],
    ['resource', ''],
  ],
}

const accountsMax = 20_000
/** An account that was unknown is looked up again after this time: it may have been created. */
const unknownMs = 5_000

/** Reads rows of all accounts from lines of JSON. */
export class FeedReader {
  readonly #postgres: Postgres
  /** Currency by account. It never changes, and the id of a deleted account is never used again. */
  readonly #currencies = new LRUCache<string, string>({ max: accountsMax })
  readonly #unknown = new LRUCache<string, true>({ max: accountsMax, ttl: unknownMs })
  /** Shared by all accounts with a currency: a reader prepares some kilobytes. */
  readonly #readers = new Map<string, RowReader<FeedRow['value']>>()

  constructor(postgres: Postgres) {
    this.#postgres = postgres
  }

  /**
   * Reads the rows of lines, in their order; blank lines are none.
   * @throws Problem `unavailable`
   */
  async read(lines: readonly Line[], origin: RowOrigin): Promise<(FeedRow | RejectedRow)[]> {
    const rows = lines.flatMap((line) => rawRowOf(line) ?? [])
    const currencies = await this.#findCurrencies(rows.map(({ fields }) => fields))
    return rows.map(({ fields, text }) => {
      if (fields instanceof RowError) return { resource: '', text, reason: fields.message }
      const { accountId, resource } = fields
      if (!isResource(resource))
        return { resource: '', text, reason: `resource: must be one of ${resourceNames.join(', ')}` }
      const currency = typeof accountId === 'string' ? currencies.get(accountId) : undefined
      if (currency === undefined) {
        const reason = isAbsent(accountId) ? 'accountId: is required' : 'accountId: there is no such account'
        return { resource, text, reason }
      }
      try {
        const value = this.#readValue(accountId as string, resource, currency, fields, origin)
        return { accountId, resource, value, text } as FeedRow
      } catch (error) {
        if (error instanceof RowError) return { resource, text, reason: error.message }
        throw error
      }
    })
  }

  #readValue(
    accountId: string,
    resource: ResourceName,
    currency: string,
    fields: RawFields,
    { nowMs, updatedAtMs, importFile, lineOf }: RowOrigin,
  ): FeedRow['value'] {
    const value = this.#readerOf(resource, currency)(fields, feedInput)
    if (resource === 'clicks') return Object.assign(value, { accountId })
    if (resource === 'conversions') {
      const conversion = value as Conversion & Given
      if (updatedAtMs !== undefined && isAbsent(fields.updatedAt)) conversion.updatedAt = updatedAtMs
      return Object.assign(conversion, { accountId, importFile, importLine: lineOf(`${accountId} ${conversion.id}`) })
    }
    if (resource === 'pixel-events') {
      const event = value as PixelEvent & Given
      if (isAbsent(fields.occurredAt)) event.occurredAt = nowMs
      if (isAbsent(fields.receivedAt)) event.receivedAt = nowMs
      return Object.assign(event, { accountId })
    }
    const isOfAccount = resource === 'campaigns' && isAbsent(fields.userId)
    return Object.assign(value, { account_id: accountId }, isOfAccount && { user_id: accountId })
  }

  #readerOf(resource: ResourceName, currency: string): RowReader<FeedRow['value']> {
    const key = `${resource} ${currency}`
    const known = this.#readers.get(key)
    if (known) return known
    const reader = readerOf(resource, { id: '', currency }, false) as RowReader<FeedRow['value']>
    this.#readers.set(key, reader)
    return reader
  }

  async #findCurrencies(rows: readonly (RawFields | RowError)[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>()
    const wanted = new Set<string>()
    for (const fields of rows) {
      const id = fields instanceof RowError ? undefined : fields.accountId
      if (typeof id !== 'string' || found.has(id) || wanted.has(id) || this.#unknown.has(id) || !isId(id)) continue
      const currency = this.#currencies.get(id)
      if (currency === undefined) wanted.add(id)
      else found.set(id, currency)
    }
    if (wanted.size === 0) return found
    for (const { id, currency } of await findAccounts(this.#postgres, [...wanted])) {
      this.#currencies.set(id, currency)
      found.set(id, currency)
    }
    for (const id of wanted) if (!found.has(id)) this.#unknown.set(id, true)
    return found
  }
}

function isId(text: string): boolean {
  try {
    return idField.read(text) === text
  } catch {
    return false
  }
}

function isResource(name: unknown): name is ResourceName {
  return resourceNames.includes(name as ResourceName)
}
