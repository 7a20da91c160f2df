import { ch, type Fragment } from '../../stores/clickhouse/sql.ts'
import { selectOnReplicas } from '../../stores/cluster/replicas.ts'
import { accountsOf, keyOfText } from '../tables/accountKeys.ts'
import { KeyFilter, type StoredKeys } from './keyFilter.ts'

export interface KeySource extends StoredKeys {
  /** SELECT of one column `key`: the stored ones of the given keys. */
  among(keys: readonly string[]): Fragment
  /** Whether rows with equal keys collapse. Then a row that only one replica has is stored again: it may still be discarded. */
  isCollapsed: boolean
}

/** Looking up fewer keys than this, in all, costs less than reading the whole index. */
const filterFrom = 10_000

/** Of more keys, nearly always none or all are stored, so they are counted before they are listed. */
const listedMax = 10_000

/**
 * Finds keys that are already stored. Random ids are scattered over an index, so looking up a batch reads all of it; a filter of the
 * accounts' keys excludes nearly all new ones. Keys that `POST /events` stores meanwhile are missing in the filter; its rows with equal
 * keys collapse.
 */
export class ExistingKeys extends KeyFilter<KeySource> {
  #lookedUp = 0

  /**
   * Call it before each attempt to store rows: a filter that is made between two attempts must have their keys too.
   * @param keys of claimed accounts
   */
  async findExisting(keys: readonly string[]): Promise<Set<string>> {
    this.#lookedUp += keys.length
    if (this.#lookedUp >= filterFrom) await this.fill(accountsOf(keys.map(keyOfText)))
    const candidates = this.candidatesOf(keys)
    // Before the rows are sent: after an attempt of unknown outcome, any of them may be stored.
    this.add(keys)
    if (candidates.length === 0) return new Set()
    const { name, among, isCollapsed } = this.source
    const stored = among(candidates)
    const [step, label] = [`looking up ${name}`, `import.known_${name}`]
    const { clickhouse } = this.session.stores
    const mayBeDiscarded = isCollapsed && clickhouse.cluster?.isReplicated
    if (candidates.length > listedMax) {
      const counting = ch`SELECT uniqExact(key) AS found FROM (${stored})`
      const [row] = await this.session.select<{ found: number }>(step, counting, label)
      if (row?.found === candidates.length && !mayBeDiscarded) return new Set(candidates)
      if (row?.found === 0) return new Set()
    }
    const listing = ch`SELECT DISTINCT key FROM (${stored})`
    const options = this.session.optionsOf(label)
    const rows = await this.session.retry(step, () =>
      selectOnReplicas<{ key: string }>(clickhouse, listing, ({ key }) => key, options),
    )
    return new Set(rows.flatMap(({ row, isOnAll }) => (isOnAll || !mayBeDiscarded ? row.key : [])))
  }
}
