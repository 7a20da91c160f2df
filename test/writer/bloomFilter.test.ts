import { crc32 } from 'node:zlib'
import { expect, it } from 'vitest'
import { ch } from '../../src/stores/clickhouse/sql.ts'
import type { WriteSession } from '../../src/writer/fence/session.ts'
import { BloomFilter } from '../../src/writer/storedKeys/bloomFilter.ts'
import { KeyFilter } from '../../src/writer/storedKeys/keyFilter.ts'

it.each([
  ['consecutive', (n: number) => `${n}`],
  ['padded', (n: number) => `click-${`${n}`.padStart(12, '0')}`],
] as const)(
  'a filter of %s ids of many accounts has all of them and few others, and knows how many it has',
  (_, idOf) => {
    const checksumOf = (n: number) => crc32(`acc_${n % 500} ${idOf(n)}`)
    const added = Uint32Array.from({ length: 200_000 }, (_, n) => checksumOf(n))
    const filter = new BloomFilter(added.length)
    for (const checksum of added) filter.add(checksum)
    expect(added.every((checksum) => filter.mayContain(checksum))).toBe(true)
    const others = Array.from({ length: 100_000 }, (_, n) => checksumOf(added.length + n))
    expect(others.filter((checksum) => filter.mayContain(checksum)).length).toBeLessThan(25)
    // Also when keys are added again: 16 MiB have eight bits for each of 16.8 million keys.
    for (const checksum of added) filter.add(checksum)
    expect([16_570_000, 16_590_000].map((keys) => filter.hasRoomFor(keys))).toEqual([true, false])
  },
)

it('a filter that counts the keys of accounts is not filled by another call, and is filled again after a failure', async () => {
  const failures: ((error: Error) => void)[] = []
  const select = () => new Promise((_, fail) => failures.push(fail))
  const filter = new KeyFilter({ select } as unknown as WriteSession, { name: 'ids', every: () => ch`` }, 'meanwhile')
  const first = filter.fill(['acme'])
  await filter.fill(['acme', 'beta'])
  expect(failures).toHaveLength(1)
  failures[0]?.(new Error('unavailable'))
  await expect(first).rejects.toThrow('unavailable')
  filter.fill(['acme']).catch(() => {})
  expect(failures).toHaveLength(2)
})
