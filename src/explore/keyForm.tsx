/** @param problem why the last key was not accepted; empty if none was */
export function KeyForm(props: { isChecking: boolean; problem: string; onKey: (key: string) => void }) {
  const { isChecking, problem, onKey } = props
  return (
    <main class="key-page">
      <form
        class="panel key-form"
        onSubmit={(event) => {
          event.preventDefault()
          const key = `${new FormData(event.currentTarget).get('key')}`.trim()
          if (key) onKey(key)
        }}
      >
        <h1>Explore your numbers</h1>
        <p>
          Paste an API key of your account. It is kept in this tab until the tab is closed, and is sent to this server
          only.
        </p>
        <label for="key">API key</label>
        <input
          id="key"
          name="key"
          type="password"
          placeholder="trb_live_…"
          autocomplete="off"
          spellcheck={false}
          required
        />
        <button type="submit" class="primary" disabled={isChecking}>
          {isChecking ? 'Checking …' : 'Show the numbers'}
        </button>
        <p role="status" class="problem">
          {problem}
        </p>
        <p class="hint">
          An operator creates keys: <code>tributary key create --account ID --name explore --scopes all</code>
        </p>
      </form>
    </main>
  )
}
