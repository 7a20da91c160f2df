import type { TestApp } from '../../kit/app.ts'

/** @returns the ids of all pages */
export async function readSearch(api: TestApp, path: string, query: string, limit: number, key: string) {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: { data: { id: string }[]; nextCursor: string | null; hasMore: boolean } = (
      await api.get(`${path}?${query}&limit=${limit}${cursor ? `&cursor=${cursor}` : ''}`, key)
    ).json()
    if ((page.nextCursor !== null) !== page.hasMore) throw new Error('nextCursor and hasMore disagree')
    ids.push(...page.data.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor)
  return ids
}
