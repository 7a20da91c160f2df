import { useState } from 'preact/hooks'
import type { QueryOf, ResponseOf } from '../packages/client/client.ts'
import { Select } from './controls.tsx'
import { type Dimension, dimensionNames, dimensions } from './dimensions.ts'
import { sortOf } from './drillPath.ts'
import { HeatMap, isHeatMap } from './heatMap.tsx'
import { columnNames, columns } from './metrics.ts'
import { Panel } from './panel.tsx'
import { ReportTable } from './reportTable.tsx'
import { useGet } from './request.ts'
import type { OpenRows } from './sidePanel.tsx'
import { comparisonOf, type PanelProps, selectionOf } from './view.ts'

type Report = ResponseOf<'/reports'>

const rowsPerPage = 50
/** The rows that are searched: as many as the API returns at once. */
const rowsSearched = 1_000

/** A report by up to three dimensions. A click on a row filters by it and moves to the next dimension. */
export function DrillDown(props: PanelProps & { empty: string; onRows: OpenRows }) {
  const { view, empty } = props
  const [text, setText] = useState('')
  const query = {
    group_by: [...view.groupBy],
    ...selectionOf(view, Date.now()),
    ...comparisonOf(view),
    sort: view.sort as NonNullable<QueryOf<'/reports'>['sort']>,
    metrics: view.columns,
    ...(view.minClicks > 0 && { min_clicks: view.minClicks }),
    ...(text || isHeatMap(view.groupBy) ? { limit: rowsSearched } : { limit: rowsPerPage, offset: view.offset }),
  }
  const report = useGet('/reports', query, ['read:reports'])
  return (
    <Panel
      title="Drill-down"
      area="drill-down"
      loaded={report}
      csv={{ format: 'csv', totals: true, csv_escape: 'formulas', limit: undefined, offset: undefined }}
      controls={<Controls {...props} text={text} onText={setText} />}
      empty={view.minClicks > 0 ? `No row has ${view.minClicks} clicks.` : empty}
    >
      {(body) =>
        body.bucketCount > 0 &&
        (isHeatMap(view.groupBy) ? (
          <HeatMap {...props} body={body} />
        ) : (
          <>
            <ReportTable {...props} body={body} rows={body.data.filter((row) => hasText(row, text))} />
            <Foot {...props} body={body} isSearched={text !== ''} />
          </>
        ))
      }
    </Panel>
  )
}

function hasText({ dimensions: values }: Report['data'][number], text: string): boolean {
  const part = text.toLowerCase()
  return Object.values(values).some(({ id, name }) => `${id}\n${name ?? ''}`.toLowerCase().includes(part))
}

function Controls({ view, onChange, text, onText }: PanelProps & { text: string; onText: (text: string) => void }) {
  const { groupBy } = view
  return (
    <div class="controls">
      {[0, 1, 2].slice(0, groupBy.length + 1).map((index) => (
        <GroupSelect
          key={index}
          index={index}
          groupBy={groupBy}
          onGroups={(groups) => onChange({ groupBy: groups, sort: sortOf(groups, view.sort) })}
        />
      ))}
      <label>
        Clicks from{' '}
        <input
          class="count"
          type="number"
          min="0"
          max="1000000000"
          value={view.minClicks || ''}
          onChange={({ currentTarget }) => {
            if (currentTarget.checkValidity()) onChange({ minClicks: Number(currentTarget.value) })
          }}
        />
      </label>
      <input
        type="search"
        aria-label="Search the rows"
        placeholder="Search the rows"
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      <details class="menu">
        <summary>Columns</summary>
        <fieldset aria-label="Columns">
          {columnNames.map((name) => (
            <label key={name}>
              <input
                type="checkbox"
                checked={view.columns.includes(name)}
                disabled={view.columns.length === 1 && view.columns.includes(name)}
                onChange={({ currentTarget: { checked } }) =>
                  onChange({
                    columns: columnNames.filter((column) =>
                      column === name ? checked : view.columns.includes(column),
                    ),
                  })
                }
              />{' '}
              {columns[name].label}
            </label>
          ))}
        </fieldset>
      </details>
    </div>
  )
}

interface GroupSelectProps {
  index: number
  groupBy: readonly Dimension[]
  onGroups: (names: Dimension[]) => void
}

function GroupSelect({ index, groupBy, onGroups }: GroupSelectProps) {
  return (
    <label>
      <span class={index === 0 ? '' : 'visually-hidden'}>{index === 0 ? 'Group by' : `then by (${index + 1})`}</span>{' '}
      <Select
        options={[
          ...(index > 0 ? [['', groupBy[index] ? '(none)' : 'then by …'] as const] : []),
          ...dimensionNames
            .filter((name) => name === groupBy[index] || !groupBy.includes(name))
            .map((name) => [name, dimensions[name].label] as const),
        ]}
        value={groupBy[index] ?? ''}
        onChoose={(chosen) => {
          const names = [...groupBy.slice(0, index), chosen, ...groupBy.slice(index + 1)]
          onGroups(names.filter((name) => name !== ''))
        }}
      />
    </label>
  )
}

/** Which rows of the report are shown, and the pages before and after them. */
function Foot({ view, onChange, body, isSearched }: PanelProps & { body: Report; isSearched: boolean }) {
  const { data, bucketCount, truncated } = body
  const [first, last, count] = [view.offset + 1, view.offset + data.length, bucketCount].map((row) =>
    row.toLocaleString(),
  )
  if (isSearched)
    return <p class="table-foot hint">{truncated && `Searched: the first ${data.length} of ${count} rows.`}</p>
  return (
    <p class="table-foot">
      <span data-count>
        {first}–{last} of {count}
      </span>
      <button
        type="button"
        disabled={view.offset === 0}
        onClick={() => onChange({ offset: Math.max(0, view.offset - rowsPerPage) })}
      >
        Previous page
      </button>
      <button type="button" disabled={!truncated} onClick={() => onChange({ offset: view.offset + rowsPerPage })}>
        Next page
      </button>
    </p>
  )
}
