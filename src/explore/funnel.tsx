import { useId, useState } from 'preact/hooks'
import type { ResponseOf } from '../packages/client/client.ts'
import { csvOf } from './files.ts'
import { formatSeconds, formatValue } from './format.ts'
import { missingScopes, Panel } from './panel.tsx'
import { apiRequest, useGet, useSession } from './request.ts'
import { type PanelProps, selectionOf, units, type View, windows } from './view.ts'

type Funnel = ResponseOf<'/funnels'>

const stepsMin = 2
const stepsMax = 8

/** A funnel with editable steps. */
export function FunnelPanel({ view, onChange }: PanelProps) {
  const { key } = useSession()
  const scopes = [
    'read:events' as const,
    ...(view.steps.includes('click') ? (['read:clicks'] as const) : []),
    ...(view.steps.includes('conversion') ? (['read:conversions'] as const) : []),
  ]
  const request = apiRequest('/funnels', {
    steps: view.steps.join(),
    by: view.by,
    window: view.window,
    ...selectionOf(view, Date.now()),
  })
  const funnel = useGet(missingScopes(key, scopes).length === 0 ? request : undefined)
  return (
    <Panel
      title="Funnel"
      area="funnel"
      scopes={scopes}
      request={request}
      loaded={funnel}
      csv={funnelCsv}
      controls={<Controls view={view} onChange={onChange} />}
      empty="No steps."
    >
      {(body) => <Steps body={body} />}
    </Panel>
  )
}

function Controls({ view, onChange }: PanelProps) {
  return (
    <>
      <div class="controls">
        <label>
          Count{' '}
          <select value={view.by} onChange={({ currentTarget }) => onChange({ by: currentTarget.value as View['by'] })}>
            {Object.entries(units).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <label>
          within{' '}
          <select
            value={view.window}
            onChange={({ currentTarget }) => onChange({ window: currentTarget.value as View['window'] })}
          >
            {Object.entries(windows).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </div>
      <StepsForm key={view.steps.join()} steps={view.steps} onSteps={(steps) => onChange({ steps })} />
    </>
  )
}

function StepsForm({ steps, onSteps }: { steps: readonly string[]; onSteps: (steps: string[]) => void }) {
  const id = useId()
  const [texts, setTexts] = useState(steps)
  const [isEdited, setEdited] = useState(false)
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
        <option value="click" />
        <option value="conversion" />
        <EventNames isWanted={isEdited} />
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

/** Suggestions: the names of the latest events, read when the steps are edited. */
function EventNames({ isWanted }: { isWanted: boolean }) {
  const { key } = useSession()
  const canRead = missingScopes(key, ['read:events']).length === 0
  const events = useGet(isWanted && canRead ? apiRequest('/events', { limit: 200 }) : undefined)
  const names = new Set(events.data?.data.map(({ eventName }) => eventName))
  return (
    <>
      {[...names].map((name) => (
        <option key={name} value={name} />
      ))}
    </>
  )
}

function Steps({ body }: { body: Funnel }) {
  return (
    <ol class="funnel">
      {body.steps.map(({ step, entered, fromFirst, fromPrevious, medianSeconds }, index) => (
        <li key={index}>
          <div class="funnel-text">
            <bdi class="name" title={step}>
              {step}
            </bdi>
            <span class="funnel-count" data-entered>
              {formatValue(entered, 'count', '')}
            </span>
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

function funnelCsv({ steps }: Funnel): Blob {
  return csvOf([
    ['step', 'entered', 'fromPrevious', 'fromFirst', 'medianSeconds'],
    ...steps.map(({ step, entered, fromPrevious, fromFirst, medianSeconds }) => [
      step,
      entered,
      fromPrevious,
      fromFirst,
      medianSeconds,
    ]),
  ])
}
