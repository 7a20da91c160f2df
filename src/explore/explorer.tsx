import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Cards } from './cards.tsx'
import { dateIn, datesIn, ownZone } from './dates.ts'
import { DrillDown } from './drillDown.tsx'
import { useEmptiness } from './empty.tsx'
import { ownDecimal } from './files.ts'
import { FilterBar } from './filterBar.tsx'
import { FunnelPanel } from './funnel.tsx'
import { RangeMenu } from './rangeMenu.tsx'
import { errorText, FileContext, isOfSelection, useGet, useSession } from './request.ts'
import { type OpenJourney, Rows } from './rows.tsx'
import { Series } from './series.tsx'
import { type Details, SidePanel } from './sidePanel.tsx'
import { Top } from './top.tsx'
import {
  comparisonOf,
  countedSelectionOf,
  formatView,
  intervalOf,
  parseView,
  selectionOf,
  type View,
  visibleView,
} from './view.ts'

/** All panels of a key. The view is the query of the address. */
export function Explorer({ onRefresh, onLeave }: { onRefresh: () => void; onLeave: () => void }) {
  const { key } = useSession()
  const [chosen, setView] = useState(() => parseView(location.search, ownZone))
  const view = useMemo(() => visibleView(chosen, key.hidden ?? []), [chosen, key])
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

  const compared = { ...countedSelectionOf(view), ...comparisonOf(view) }
  const overview = useGet('/stats/overview', compared)
  const daily = useGet('/stats/daily', { ...compared, interval: intervalOf(view) })
  const empty = useEmptiness(view, overview, daily)
  const [details, setDetails] = useState<Details>([])
  const onJourney: OpenJourney = key.filters ? undefined : (journey) => setDetails((before) => [...before, { journey }])
  const props = { view, onChange: change }
  const failures = [overview, daily].flatMap((loaded) => (loaded.phase === 'error' ? [loaded.error] : []))
  // A reference, so that the panels are not drawn again when the dates are known.
  const files = useRef({ dates: '', hasComma: false })
  files.current.hasComma = (view.csvDecimal ?? ownDecimal) === 'comma'
  if (overview.data) files.current.dates = Object.values(datesIn(view.tz, overview.data)).join('-to-')
  // The same element while totals and series arrive, so that its rows are not compared.
  const drillDown = useMemo(
    () => <DrillDown {...props} empty={empty} onRows={(of) => setDetails([of])} />,
    [view, dateIn(view.tz, Date.now()), empty.text, empty.firstDate],
  )
  return (
    <FileContext.Provider value={files}>
      <Top {...props} overview={overview.data} onRefresh={onRefresh} onLeave={onLeave} />
      <section class="filters controls" aria-label="Range and filters">
        <RangeMenu {...props} overview={overview} />
        <FilterBar {...props} problem={failures.filter(isOfSelection).map(errorText)[0] ?? ''} />
      </section>
      <main class="panels">
        <h1 class="visually-hidden">Numbers of {key.accountName}</h1>
        <Cards {...props} onRows={(of) => setDetails([of])} overview={overview} daily={daily} empty={empty} />
        <Series {...props} daily={daily} empty={empty} />
        {drillDown}
        <Rows
          title="Latest conversions"
          area="conversions"
          list={{ path: '/conversions', query: selectionOf(view) }}
          limit={20}
          zone={view.tz}
          onJourney={onJourney}
        />
        {!key.filters && <FunnelPanel {...props} />}
      </main>
      {details.length > 0 && (
        <SidePanel details={details} onDetails={setDetails} zone={view.tz} onJourney={onJourney} />
      )}
    </FileContext.Provider>
  )
}
