import { Button, focus, Problem } from './controls.tsx'

/** @param problem why the last key was not accepted; empty if none was */
export function KeyForm({ problem, onKey }: { problem: string; onKey: (key: string) => void }) {
  return (
    <main>
      <form
        class="panel key-form"
        onSubmit={(event) => {
          event.preventDefault()
          onKey(`${new FormData(event.currentTarget).get('key')}`.trim())
        }}
      >
        <h1>Explore your numbers</h1>
        <p>
          Paste an API key of your account. It is kept in this tab until the tab is closed, and is sent to this server
          only.
        </p>
        <label for="key">API key</label>
        <input id="key" name="key" type="password" placeholder="trb_live_…" autocomplete="off" required ref={focus} />
        <button type="submit" class="primary">
          Show the numbers
        </button>
        <Problem text={problem} />
        <p class="hint">
          An operator creates keys: <code>tributary key create --account ID --name explore --scopes all</code>
        </p>
      </form>
    </main>
  )
}

/** Asks whether the key of a link replaces the key of the tab. */
export function KeyChoice(props: { present: string; offered: string; onKey: (key: string) => void }) {
  const { present, offered, onKey } = props
  return (
    <main>
      <section class="panel key-form" aria-labelledby="key-choice">
        <h1 id="key-choice">Use another API key?</h1>
        <p>
          This tab has the key <code>{beginOf(present)}</code>. The link that was opened has the key{' '}
          <code>{beginOf(offered)}</code>. Use it only if you trust the sender of the link.
        </p>
        <Button class="primary" onClick={() => onKey(present)}>
          Keep the present key
        </Button>
        <Button onClick={() => onKey(offered)}>Use the key of the link</Button>
      </section>
    </main>
  )
}

/** The part of a key by which lists of keys name it. */
const beginOf = (key: string): string => `${key.slice(0, 'trb_live_XXXX'.length)}…`
