import { useEffect, useMemo, useState } from 'preact/hooks'
import { Bar } from './bar.tsx'
import { Cards } from './cards.tsx'
import { ownZone } from './dates.ts'
import { DrillDown } from './drillDown.tsx'
import { FirstSteps, useEmptiness } from './empty.tsx'
import { FilterBar } from './filterBar.tsx'
import { FunnelPanel } from './funnel.tsx'
import { Notes } from './notes.tsx'
import { errorText, isOfSelection, RangeContext, useGet, useSession } from './request.ts'
import { type OpenJourney, Rows } from './rows.tsx'
import { Series } from './series.tsx'
import { type Detail, SidePanel } from './sidePanel.tsx'
import { Top } from './top.tsx'
import {
  comparisonOf,
  countedSelectionOf,
  formatView,
  intervalOf,
  parseView,
  selectionOf,
  type View,
  viewDates,
  wholeComparisonOf,
} from './view.ts'

/** All panels of a key. The view is the query of the address. */
export function Explorer({ onRefresh, onLeave }: { onRefresh: () => void; onLeave: () => void }) {
  const { key, revision } = useSession()
  const [view, setView] = useState(() => parseView(location.search, ownZone))
  useEffect(() => {
    // The address of the first view gets the time zone, so that its link shows the same numbers elsewhere.
    history.replaceState(null, '', location.pathname + formatView(view))
    const onPop = () => setView(parseView(location.search))
    addEventListener('popstate', onPop)
    return () => removeEventListener('popstate', onPop)
  }, [])
  function change(part: Partial<View>) {
    // The view may have changed since the panel was drawn. Another selection begins with its first page.
    const next = { ...parseView(location.search), offset: 0, ...part }
    history.pushState(null, '', location.pathname + formatView(next))
    setView(next)
  }

  const nowMs = Date.now()
  const selection = selectionOf(view, nowMs)
  const counted = countedSelectionOf(view, nowMs)
  const overview = useGet('/stats/overview', { ...counted, ...comparisonOf(view) }, ['read:stats'])
  const series = { ...counted, ...wholeComparisonOf(view, nowMs), interval: intervalOf(view, nowMs) }
  const daily = useGet('/stats/daily', series, ['read:stats'])
  const empty = useEmptiness(view, overview)
  const [details, setDetails] = useState<readonly Detail[]>([])
  const detail = details.at(-1)
  const onJourney: OpenJourney = (journey) => setDetails((before) => [...before, { journey }])
  const props = { view, onChange: change }
  const failures = [overview, daily].flatMap((loaded) => (loaded.phase === 'error' ? [loaded.error] : []))
  const { from, to } = viewDates(view, nowMs)
  // The same elements while totals and series arrive, so that they are not compared.
  const others = useMemo(
    () => (
      <>
        <DrillDown {...props} empty={empty.text} onRows={(list, title) => setDetails([{ list, title }])} />
        <Rows
          title="Latest conversions"
          area="conversions"
          list={{ path: '/conversions', query: selection }}
          limit={20}
          zone={view.tz}
          onJourney={onJourney}
        />
        <FunnelPanel {...props} />
      </>
    ),
    [view, from, to, empty.text, revision],
  )
  return (
    <RangeContext.Provider value={`${from}-to-${to}`}>
      <Notes>
        <Top overview={overview.data} zone={view.tz} onRefresh={onRefresh} onLeave={onLeave} />
        <Bar {...props} />
        <FilterBar {...props} problem={failures.filter(isOfSelection).map(errorText)[0] ?? ''} />
        {empty.isNew && <FirstSteps />}
        <main class="panels">
          <h1 class="visually-hidden">Numbers of {key.accountName}</h1>
          <Cards overview={overview} daily={daily} />
          <Series {...props} daily={daily} empty={empty.text} />
          {others}
        </main>
      </Notes>
      {detail && (
        <SidePanel
          detail={detail}
          zone={view.tz}
          onJourney={onJourney}
          onBack={details.length > 1 ? () => setDetails(details.slice(0, -1)) : undefined}
          onClose={() => setDetails([])}
        />
      )}
    </RangeContext.Provider>
  )
}
