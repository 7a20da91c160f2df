import { useId, useState } from 'preact/hooks'
import type { ResponseOf } from '../packages/client/types.ts'
import { labelsOf, Menu, Name, RowTable, Select } from './controls.tsx'
import { dimensions, funnelDimensions } from './dimensions.ts'
import type { FileRow } from './files.ts'
import { formatSeconds, formatValue } from './format.ts'
import { Panel } from './panel.tsx'
import { useGet } from './request.ts'
import { type PanelProps, selectionOf, units, windows } from './view.ts'

type Funnel = ResponseOf<'/funnels'>

const stepsMin = 2
const stepsMax = 8

export function FunnelPanel({ view, onChange }: PanelProps) {
  const listed = (['click', 'conversion'] as const).filter((step) => view.steps.includes(step))
  const { filters, ...selection } = selectionOf(view)
  const query = {
    steps: view.steps.join(),
    by: view.by,
    window: view.window,
    ...selection,
    ...(view.funnelBy && { group_by: view.funnelBy }),
  }
  const more = listed.map((step) => `read:${step}s` as const)
  const funnel = useGet('/funnels', query, more)
  const controls = (
    <Menu summary={`Steps of ${units[view.by].toLowerCase()} within ${windows[view.window]}`}>
      <StepFields steps={view.steps} onSteps={(steps) => onChange({ steps })} />
      <Select label="Count" options={units} value={view.by} onChoose={(by) => onChange({ by })} />
      <Select label="within" options={windows} value={view.window} onChoose={(window) => onChange({ window })} />
      <Select
        label="Split by"
        options={{ '': 'None', ...labelsOf(funnelDimensions, dimensions) }}
        value={view.funnelBy ?? ''}
        onChoose={(name) => onChange({ funnelBy: name === '' ? undefined : name })}
      />
    </Menu>
  )
  return (
    <Panel title="Funnel" area="funnel" loaded={funnel} csv={funnelCsv} controls={controls}>
      {(body) => (
        <>
          {filters && (
            <p class="hint">Funnels do not take the conditions with parts of texts; they are left out here.</p>
          )}
          <Steps body={body} />
          {body.data && <Groups steps={body.steps} groups={body.data} />}
        </>
      )}
    </Panel>
  )
}

/** A field for each step, and one that adds a step; a step without a text is removed. */
function StepFields({ steps, onSteps }: { steps: readonly string[]; onSteps: (steps: string[]) => void }) {
  const id = useId()
  const [hasFocus, setFocus] = useState(false)
  // Suggestions: the names of the latest events.
  const events = useGet('/events', hasFocus ? { limit: 200 } : undefined)
  const names = new Set(['click', 'conversion', ...(events.data?.data.map(({ eventName }) => eventName) ?? [])])
  return (
    <fieldset class="controls" aria-label="Steps of the funnel" tabIndex={-1} onFocusIn={() => setFocus(true)}>
      {[...steps, ''].slice(0, stepsMax).map((step, index) => (
        <input
          key={`${index} ${step}`}
          aria-label={`Step ${index + 1}`}
          list={id}
          size={16}
          required={step !== '' && steps.length <= stepsMin}
          placeholder="Add a step"
          pattern="(event:)?[a-zA-Z][a-zA-Z0-9_]{0,63}"
          title="An event name, click or conversion"
          defaultValue={step}
          onChange={({ currentTarget }) => {
            const name = currentTarget.value.trim()
            if (currentTarget.reportValidity()) onSteps(steps.toSpliced(index, 1, ...(name ? [name] : [])))
          }}
        />
      ))}
      <datalist id={id}>
        {[...names].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </fieldset>
  )
}

function Steps({ body }: { body: Funnel }) {
  return (
    <ol class="funnel">
      {body.steps.map((step, index) => (
        <li key={index}>
          <strong data-entered>{formatValue(step.entered, 'count')}</strong>
          <Name text={step.step} />
          <div class="funnel-bar" style={{ '--share': step.entered > 0 ? `max(2px, ${step.fromFirst}%)` : '0' }} />
          {index > 0 && <p class="hint">{textsOf(step, index).join('; ')}</p>}
        </li>
      ))}
    </ol>
  )
}

/** What is known of a step: the first step is the previous one of the second step. */
function textsOf({ fromFirst, fromPrevious, medianSeconds }: Funnel['steps'][number], index: number): string[] {
  return [
    ...(index > 1 && fromPrevious !== null ? [`${formatValue(fromPrevious, 'percent')} of the previous step`] : []),
    ...(fromFirst === null ? [] : [`${formatValue(fromFirst, 'percent')} of the first`]),
    ...(medianSeconds === null ? [] : [`median time ${formatSeconds(medianSeconds)}`]),
  ]
}

const groupsShown = 20

/** The funnel of each value: how many reached each step, and the percentage of the first step that reached the last one. */
function Groups({ steps, groups }: { steps: Funnel['steps']; groups: NonNullable<Funnel['data']> }) {
  const columns = steps.map(({ step }, at) => ({
    label: step,
    isNumber: true,
    cell: (group: (typeof groups)[number]) => formatValue(group.steps[at]?.entered, 'count'),
  }))
  return (
    <>
      <RowTable
        label="Funnel of each value"
        rows={groups.slice(0, groupsShown)}
        columns={[
          { label: 'Value', cell: ({ id, name }) => <Name text={name ?? id} /> },
          ...columns,
          { label: 'Rate', isNumber: true, cell: (group) => formatValue(group.steps.at(-1)?.fromFirst, 'percent') },
        ]}
      />
      {groups.length > groupsShown && (
        <p class="state hint">
          The first {groupsShown} of {groups.length} values. The CSV file has all.
        </p>
      )}
    </>
  )
}

/** The steps of all rows, then the steps of each value. */
const funnelCsv = ({ steps, data = [] }: Funnel): FileRow[] =>
  [{ id: '(total)', steps }, ...data].flatMap((group) => group.steps.map((step) => ({ value: group.id, ...step })))
