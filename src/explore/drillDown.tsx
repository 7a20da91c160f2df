import { useMemo, useRef, useState } from 'preact/hooks'
import type { QueryOf } from '../packages/client/types.ts'
import { Button, Checkbox, Field, labelsOf, Menu, Select } from './controls.tsx'
import { dateIn } from './dates.ts'
import { dimensionNames, dimensions } from './dimensions.ts'
import { columnsOf, nextDimensions, type Report, sortOf } from './drillPath.ts'
import { type Emptiness, Empty } from './empty.tsx'
import { filterParameters, hasText } from './filterText.ts'
import { HeatMap, isHeatMap } from './heatMap.tsx'
import { columnNames, isSum, metrics } from './metrics.ts'
import { Panel } from './panel.tsx'
import { ReportTable } from './reportTable.tsx'
import { nextQuery, useGet, useSession } from './request.ts'
import type { OpenRows } from './sidePanel.tsx'
import { comparisonOf, countedSelectionOf, leavesOutRows, type PanelProps, sortedColumn } from './view.ts'

const rowsPerPage = 50
/** The rows that are searched: as many as the API returns at once. */
const rowsSearched = 1_000

/** The queries of later pages by offset, as `next` gave them. */
type Pages = Map<number, QueryOf<'/reports'>>

/** A report by up to three dimensions. A click on a row filters by it and moves to the next dimension. */
export function DrillDown({ view: given, ...others }: PanelProps & { empty: Emptiness; onRows: OpenRows }) {
  const { key, revision } = useSession()
  // Without a comparison there are no changes to order by.
  const sort = given.compare === 'none' ? given.sort.replace('change.', '') : given.sort
  const props = { ...others, view: { ...given, sort, columns: columnsOf(given, key.hidden ?? []) } }
  const { view, empty } = props
  // The search is for the rows of one grouping.
  const groups = view.groupBy.join()
  const [search, setSearch] = useState({ groups, text: '' })
  const text = search.groups === groups ? search.text : ''
  const query = {
    group_by: [...view.groupBy],
    ...countedSelectionOf(view),
    ...comparisonOf(view),
    sort: view.sort as NonNullable<QueryOf<'/reports'>['sort']>,
    metrics: view.columns,
    ...filterParameters(view.filters),
    ...(view.minClicks > 0 && { min_clicks: view.minClicks }),
    limit: text || isHeatMap(view.groupBy) ? rowsSearched : rowsPerPage,
  }
  // A report whose first page has another query has other pages.
  const queries = useMemo<Pages>(() => new Map(), [JSON.stringify([query, revision, dateIn(view.tz, Date.now())])])
  const isPaged = query.limit === rowsPerPage
  // A link to a later page begins a report there.
  const page = isPaged ? (queries.get(view.offset) ?? { ...query, offset: view.offset }) : query
  const report = useGet('/reports', page)
  // Without conversions there is no CPA. The API lists such rows last; the page lists those with a cost first.
  const filters = filterParameters([...view.filters, ['=', 'conversions', 0], ['>', 'cost', 0]])
  const byCost = view.sort === '-cpa' ? { ...query, ...filters, sort: '-cost' as const } : undefined
  const spenders = useGet('/reports', byCost)
  const first = (byCost && spenders.data?.data) || []
  const orderedData = ({ data }: Report) => [
    ...(view.offset > 0 ? [] : first),
    ...data.filter((row) => !first.some(({ id }) => id === row.id)),
  ]
  // Rows of before stand under their own header until the next ones arrive.
  const shown = useRef(props)
  if (report.phase === 'ready') shown.current = props
  return (
    <Panel
      title="Drill-down"
      area="drill-down"
      loaded={report}
      controls={<Controls {...props} text={text} onText={(typed) => setSearch({ groups, text: typed })} />}
      empty={<Empty {...props} text={leavesOutRows(view) ? 'No row has such numbers.' : empty.text} />}
    >
      {(body) =>
        body.bucketCount > 0 &&
        (isHeatMap(shown.current.view.groupBy) ? (
          <HeatMap {...shown.current} body={body} firstDate={empty.firstDate} />
        ) : (
          <Rows {...shown.current} body={{ ...body, data: orderedData(body) }} text={text} queries={queries} />
        ))
      }
    </Panel>
  )
}

type RowsProps = PanelProps & { body: Report; text: string; queries: Pages; onRows: OpenRows }

/** The rows that have a text; below them their number, or the pages of the report. */
function Rows({ body, text, queries, onRows, ...props }: RowsProps) {
  const { data, bucketCount, truncated } = body
  const { view, onChange } = props
  const { offset } = view
  const next = nextQuery(body)
  const rows = data.filter(({ dimensions: values }) => Object.values(values).some((value) => hasText(value, text)))
  const count = bucketCount.toLocaleString()
  return (
    <>
      <ReportTable {...props} body={body} rows={rows} onRows={onRows} />
      {text ? (
        <p class="table-foot hint">
          {rows.length.toLocaleString()} of {truncated && `the first ${data.length.toLocaleString()} of `}
          {count} rows have this text.
        </p>
      ) : (
        <p class="table-foot controls">
          <span data-count>
            {(offset + 1).toLocaleString()}–{(offset + data.length).toLocaleString()} of {count}
          </span>
          <Button disabled={offset === 0} onClick={() => onChange({ offset: Math.max(0, offset - rowsPerPage) })}>
            Previous page
          </Button>
          <Button
            disabled={!next}
            onClick={() => {
              const after = Number(next?.offset)
              if (next) queries.set(after, next)
              onChange({ offset: after })
            }}
          >
            Next page
          </Button>
        </p>
      )}
    </>
  )
}

function Controls({ view, onChange, text, onText }: PanelProps & { text: string; onText: (text: string) => void }) {
  const { hidden = [] } = useSession().key
  const { groupBy, columns: chosen } = view
  const nextNames = nextDimensions(view)
  const [first, ...others] = [0, 1, 2]
    .slice(0, groupBy.length + 1)
    .map((index) => <GroupSelect key={index} index={index} view={view} onChange={onChange} />)
  return (
    <div class="controls">
      {first}
      <input
        type="search"
        aria-label="Search the rows"
        placeholder="Search the rows"
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      <Checkbox
        checked={view.share === 'total'}
        disabled={!isSum(sortedColumn(view))}
        onCheck={(isShared) => onChange({ share: isShared ? 'total' : undefined })}
      >
        Share of the total
      </Checkbox>
      <Menu summary="Columns and rows">
        {others}
        <Select
          label="A row leads to"
          options={labelsOf(nextNames, dimensions)}
          value={nextNames[0] ?? 'day'}
          onChoose={(next) => onChange({ next })}
        />
        {view.compare !== 'none' && (
          <Checkbox
            checked={view.sort.includes('change.')}
            onCheck={(isByChange) => onChange({ sort: `-${isByChange ? 'change.' : ''}${sortedColumn(view)}` })}
          >
            Order by change
          </Checkbox>
        )}
        <Field
          label="Min. clicks"
          type="number"
          min="0"
          max="9999999"
          value={`${view.minClicks || ''}`}
          onText={(count) => onChange({ minClicks: Number(count) })}
        />
        <fieldset class="choices" aria-label="Columns">
          {columnNames
            .filter((name) => !hidden.includes(name))
            .map((name) => (
              <Checkbox
                key={name}
                checked={chosen.includes(name)}
                disabled={chosen.length === 1 && chosen.includes(name)}
                onCheck={() =>
                  onChange({ columns: columnNames.filter((column) => (column === name) !== chosen.includes(column)) })
                }
              >
                {metrics[name].label}
              </Checkbox>
            ))}
        </fieldset>
      </Menu>
    </div>
  )
}

/** @param index of the dimension among those by which the rows are grouped; their number: another one */
function GroupSelect({ index, view, onChange }: PanelProps & { index: number }) {
  const { groupBy, sort } = view
  const free = dimensionNames.filter((name) => name === groupBy[index] || !groupBy.includes(name))
  return (
    <Select
      label={['Group by', 'Then by', 'And by'][index] ?? ''}
      options={{ ...(index > 0 && { '': 'None' }), ...labelsOf(free, dimensions) }}
      value={groupBy[index] ?? ''}
      onChoose={(chosen) => {
        const groups = groupBy.toSpliced(index, 1, ...(chosen === '' ? [] : [chosen]))
        onChange({ groupBy: groups, sort: sortOf(groups, sort) })
      }}
    />
  )
}
