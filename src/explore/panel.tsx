import type { ComponentChildren } from 'preact'
import { useContext } from 'preact/hooks'
import { Button, Problem } from './controls.tsx'
import { csvOf, curlOf, type FileRow, readFile, save } from './files.ts'
import { CopyButton, useNote } from './notes.tsx'
import { type ApiRequest, errorText, FileContext, isOfSelection, type Loaded, useSession } from './request.ts'

interface PanelFrameProps<Body> {
  title: string
  area: string
  loaded: Loaded<Body>
  /** The rows of the file; absent if the API makes the file. */
  csv?: (body: Body) => readonly FileRow[]
  controls?: ComponentChildren
  /** Shown if `children` returns nothing; absent if it always returns something. */
  empty?: ComponentChildren
  children: (body: Body) => ComponentChildren
}

/** A panel: title, controls, "copy as curl" and "download CSV", and its content or why there is none. */
export function Panel<Body extends object>(props: PanelFrameProps<Body>) {
  const { title, area, loaded, csv, controls } = props
  const { missing } = loaded
  const request = missing.length > 0 ? undefined : loaded.request
  const { apiKey } = useSession()
  const files = useContext(FileContext)
  const [note, say] = useNote()

  async function download(target: ApiRequest) {
    const { dates, hasComma } = files.current
    const fileName = `${[area, dates].filter(Boolean).join('-')}.csv`
    say('Downloading …')
    try {
      // The button is enabled only with a body.
      const own = csv && { file: csvOf(csv(loaded.data as Body), hasComma), truncatedOf: false as const }
      const { file, truncatedOf } = own ?? (await readFile(apiKey, target, hasComma))
      save(file, fileName)
      if (truncatedOf) return say(`${fileName} lacks rows: there are ${truncatedOf.toLocaleString()}; add a filter.`)
      const hasTotal = target.path === '/funnels' || (target.path === '/reports' && !csv)
      say(`${fileName} is downloaded.${hasTotal ? ' In it, “(total)” stands for all rows together.' : ''}`)
    } catch (error) {
      say(`${fileName} is not downloaded. ${errorText(error)}`)
    }
  }

  return (
    <section
      id={area}
      class={`panel area-${area}`}
      style={{ gridArea: area }}
      aria-label={title}
      tabIndex={-1}
      aria-busy={missing.length === 0 && loaded.phase === 'loading'}
    >
      <div class="panel-head controls">
        <h2>{title}</h2>
        {controls}
        <div class="actions controls">
          <CopyButton
            text={request ? curlOf(request) : ''}
            done="The command is in the clipboard; it reads the key from TRIBUTARY_KEY."
          >
            Copy as curl<span class="visually-hidden"> of {title}</span>
          </CopyButton>
          <Button disabled={!request || (csv && loaded.phase !== 'ready')} onClick={() => request && download(request)}>
            Download CSV<span class="visually-hidden"> of {title}</span>
          </Button>
          {note}
        </div>
      </div>
      {missing.length > 0 ? (
        <p class="state hint">
          Missing scopes of this key: <code>{missing.join(', ')}</code>. An operator creates keys with{' '}
          <code>tributary key create</code>.
        </p>
      ) : (
        <Content {...props} />
      )}
    </section>
  )
}

function Content<Body extends object>({ loaded, empty, children }: PanelFrameProps<Body>) {
  if (loaded.phase === 'error' && isOfSelection(loaded.error))
    return <p class="state hint">The range or a filter is not valid.</p>
  if (loaded.phase === 'error') return <Problem text={errorText(loaded.error)} />
  const { data } = loaded
  const content = data && children(data)
  const { retainedFrom }: { retainedFrom?: string | null } = data ?? {}
  return (
    <>
      {loaded.phase === 'waiting' && (
        <p class="state hint" role="status">
          {loaded.status === 429 ? 'The rate limit is reached' : 'The server is not available'}; the request is sent
          again at {new Date(loaded.untilMs).toLocaleTimeString()}.
        </p>
      )}
      {data && (
        <div class={loaded.phase === 'ready' ? '' : 'stale'}>
          {content || <p class="state hint">{empty}</p>}
          {content && retainedFrom && (
            <p class="hint">
              Rows before {retainedFrom.slice(0, 10)} (UTC) were removed by the retention of the account.
            </p>
          )}
        </div>
      )}
    </>
  )
}
