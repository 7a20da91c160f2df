import { useId, useState } from 'preact/hooks'
import type { ResponseOf } from '../packages/client/client.ts'
import { Name, optionsOf, RowTable, Select } from './controls.tsx'
import { dimensions, funnelDimensions } from './dimensions.ts'
import { csvOf } from './files.ts'
import { formatSeconds, formatValue } from './format.ts'
import { Panel } from './panel.tsx'
import { useGet } from './request.ts'
import { type PanelProps, selectionOf, units, windows } from './view.ts'

type Funnel = ResponseOf<'/funnels'>

const stepsMin = 2
const stepsMax = 8

export function FunnelPanel({ view, onChange }: PanelProps) {
  const scopes = [
    'read:events' as const,
    ...(view.steps.includes('click') ? (['read:clicks'] as const) : []),
    ...(view.steps.includes('conversion') ? (['read:conversions'] as const) : []),
  ]
  const query = {
    steps: view.steps.join(),
    by: view.by,
    window: view.window,
    ...selectionOf(view, Date.now()),
    ...(view.funnelBy && { group_by: view.funnelBy }),
  }
  const funnel = useGet('/funnels', query, scopes)
  const controls = (
    <>
      <div class="controls">
        <label>
          Count <Select options={optionsOf(units)} value={view.by} onChoose={(by) => onChange({ by })} />
        </label>
        <label>
          within <Select options={optionsOf(windows)} value={view.window} onChoose={(window) => onChange({ window })} />
        </label>
        <label>
          by{' '}
          <Select
            options={[['', '(nothing)'], ...funnelDimensions.map((name) => [name, dimensions[name].label] as const)]}
            value={view.funnelBy ?? ''}
            onChoose={(name) => onChange({ funnelBy: name === '' ? undefined : name })}
          />
        </label>
      </div>
      <StepsForm key={query.steps} steps={view.steps} onSteps={(steps) => onChange({ steps })} />
    </>
  )
  return (
    <Panel title="Funnel" area="funnel" loaded={funnel} csv={funnelCsv} controls={controls}>
      {(body) => (
        <>
          <Steps body={body} />
          {body.data && <Groups steps={body.steps} groups={body.data} />}
        </>
      )}
    </Panel>
  )
}

function StepsForm({ steps, onSteps }: { steps: readonly string[]; onSteps: (steps: string[]) => void }) {
  const id = useId()
  const [texts, setTexts] = useState(steps)
  const [isEdited, setEdited] = useState(false)
  // Suggestions: the names of the latest events.
  const events = useGet('/events', isEdited ? { limit: 200 } : undefined, ['read:events'])
  const names = new Set(['click', 'conversion', ...(events.data?.data.map(({ eventName }) => eventName) ?? [])])
  const change = (next: readonly string[]) => {
    setEdited(true)
    setTexts(next)
  }
  return (
    <form
      class="steps-form"
      aria-label="Steps of the funnel"
      onSubmit={(event) => {
        event.preventDefault()
        setEdited(false)
        onSteps(texts.map((text) => text.trim()))
      }}
    >
      <ol>
        {texts.map((text, index) => (
          <li key={index}>
            <input
              aria-label={`Step ${index + 1}`}
              list={id}
              required
              pattern="[^,]+"
              title="An event name, click or conversion"
              value={text}
              onInput={({ currentTarget }) =>
                change(texts.map((old, at) => (at === index ? currentTarget.value : old)))
              }
            />
            {texts.length > stepsMin && (
              <button
                type="button"
                aria-label={`Remove step ${index + 1}`}
                onClick={() => change(texts.filter((_, at) => at !== index))}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ol>
      <datalist id={id}>
        {[...names].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {texts.length < stepsMax && (
        <button type="button" onClick={() => change([...texts, ''])}>
          Add step
        </button>
      )}
      {isEdited && (
        <button type="submit" class="primary">
          Apply steps
        </button>
      )}
    </form>
  )
}

function Steps({ body }: { body: Funnel }) {
  return (
    <ol class="funnel">
      {body.steps.map(({ step, entered, fromFirst, fromPrevious, medianSeconds }, index) => (
        <li key={index}>
          <div class="funnel-text">
            <Name text={step} />
            <strong data-entered>{formatValue(entered, 'count', '')}</strong>
          </div>
          <div class="funnel-bar" aria-hidden="true">
            <div style={{ width: `${fromFirst ?? 0}%` }} />
          </div>
          {index > 0 && (
            <p class="hint">
              {formatValue(fromPrevious, 'percent', '')} of the previous step, {formatValue(fromFirst, 'percent', '')}{' '}
              of the first; median time {formatSeconds(medianSeconds)}
            </p>
          )}
        </li>
      ))}
    </ol>
  )
}

const groupsShown = 20

/** The funnel of each value: how many reached each step, and the percentage of the first step that reached the last one. */
function Groups({ steps, groups }: { steps: Funnel['steps']; groups: NonNullable<Funnel['data']> }) {
  const columns = steps.map(({ step }, at) => ({
    label: step,
    isNumber: true,
    cell: (group: (typeof groups)[number]) => formatValue(group.steps[at]?.entered, 'count', ''),
  }))
  return (
    <RowTable
      label="Funnel of each value"
      rows={groups.slice(0, groupsShown)}
      columns={[
        { label: 'Value', cell: ({ id, name }) => <Name text={name ?? id} /> },
        ...columns,
        { label: 'Rate', isNumber: true, cell: (group) => formatValue(group.steps.at(-1)?.fromFirst, 'percent', '') },
      ]}
    />
  )
}

const csvColumns = ['step', 'entered', 'fromPrevious', 'fromFirst', 'medianSeconds'] as const

function funnelCsv({ steps }: Funnel): Blob {
  return csvOf([csvColumns, ...steps.map((step) => csvColumns.map((name) => step[name]))])
}
