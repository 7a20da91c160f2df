import { useEffect, useState } from 'preact/hooks'
import { Bar } from './bar.tsx'
import { Cards } from './cards.tsx'
import { Chips } from './chips.tsx'
import { Conversions } from './conversions.tsx'
import { DrillDown } from './drillDown.tsx'
import { FunnelPanel } from './funnel.tsx'
import { useGet, useSession } from './request.ts'
import { Series } from './series.tsx'
import { comparisonOf, formatView, intervalOf, parseView, selectionOf, type View } from './view.ts'

const iconAddress = document.querySelector<HTMLLinkElement>('link[rel=icon]')?.href

/** All panels of a key. The view is the query of the address. */
export function Explorer({ onRefresh, onLeave }: { onRefresh: () => void; onLeave: () => void }) {
  const { key } = useSession()
  const [view, setView] = useState(() => parseView(location.search))
  useEffect(() => {
    const onPop = () => setView(parseView(location.search))
    addEventListener('popstate', onPop)
    return () => removeEventListener('popstate', onPop)
  }, [])
  function change(part: Partial<View>) {
    const next = { ...view, ...part }
    history.pushState(null, '', location.pathname + formatView(next))
    setView(next)
  }

  const nowMs = Date.now()
  const query = { ...selectionOf(view, nowMs), ...comparisonOf(view) }
  const overview = useGet('/stats/overview', query, ['read:stats'])
  const daily = useGet('/stats/daily', { ...query, interval: intervalOf(view, nowMs) }, ['read:stats'])
  const props = { view, onChange: change }
  return (
    <>
      <header class="top">
        <a class="brand" href="explore">
          <img src={iconAddress} alt="" width="26" height="26" />
          Tributary
        </a>
        <span class="account" title={`Key: ${key.name}`}>
          <bdi>{key.accountName}</bdi>
        </span>
        <nav aria-label="Page">
          <a href="api/v1/docs">API reference</a>
          <button type="button" onClick={onRefresh}>
            Refresh
          </button>
          <button type="button" onClick={onLeave}>
            Remove key
          </button>
        </nav>
      </header>
      <Bar {...props} />
      <Chips {...props} />
      <main class="panels">
        <h1 class="visually-hidden">Numbers of {key.accountName}</h1>
        <Cards overview={overview} daily={daily} />
        <Series {...props} daily={daily} />
        <DrillDown {...props} />
        <Conversions {...props} overview={overview} />
        <FunnelPanel {...props} />
      </main>
    </>
  )
}
