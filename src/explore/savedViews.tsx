import { useState } from 'preact/hooks'
import { Button, Name } from './controls.tsx'
import { CopyButton, useNote } from './notes.tsx'
import { useSession } from './request.ts'
import { formatView, type PanelProps, parseView } from './view.ts'

/** A name, and the query of the address of a view. */
type SavedView = readonly [name: string, search: string]

/** The views that were saved in this browser for an account. */
function readViews(item: string): SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(item) ?? '')
    return Object.entries(stored ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  } catch {
    return []
  }
}

/** The saved views, and the link of the view that is shown; it does not have the key. */
export function SavedViews({ view, onChange }: PanelProps) {
  const item = `tributary-views-${useSession().key.accountId}`
  const [note, say] = useNote()
  const [views, setViews] = useState(() => readViews(item))
  function change(name: string, added: readonly SavedView[]) {
    // Another tab may have saved views too.
    const next = [...readViews(item).filter(([other]) => other !== name), ...added]
    localStorage.setItem(item, JSON.stringify(Object.fromEntries(next)))
    setViews(next)
  }
  return (
    <>
      <CopyButton
        text={location.origin + location.pathname + formatView(view)}
        done="The link of this view is in the clipboard, without your API key: others open it with their own."
      >
        Copy link
      </CopyButton>
      {views.map(([name, search]) => (
        <span key={name} class="chip">
          <Button class="back" onClick={() => onChange(parseView(search))}>
            <Name text={name} />
          </Button>
          <Button aria-label={`Delete the view ${name}`} onClick={() => change(name, [])}>
            ×
          </Button>
        </span>
      ))}
      <form
        class="controls"
        aria-label="Save this view"
        onSubmit={(event) => {
          event.preventDefault()
          const name = new FormData(event.currentTarget).get('name')
          event.currentTarget.reset()
          change(`${name}`, [[`${name}`, formatView(view)]])
          say('The view is saved in this browser.')
        }}
      >
        <input name="name" aria-label="Name of the view" placeholder="Name of the view" required maxLength={80} />
        <button type="submit">Save view</button>
        {note}
      </form>
    </>
  )
}
