import { useEffect, useState } from 'preact/hooks'
import { TributaryError } from '../packages/client/error.ts'
import { Problem } from './controls.tsx'
import { Explorer } from './explorer.tsx'
import { KeyChoice, KeyForm } from './keyForm.tsx'
import { errorText, get, type Session, SessionContext, valueNames } from './request.ts'

// The documentation page keeps the key under the same name, so that both pages of a tab use one key.
const keyItem = 'tributary-key'

/** The page: asks for a key until the API accepts one, then shows its numbers. */
export function App() {
  const [{ apiKey, offered, problem }, setKeys] = useState(takeKeys)
  const setApiKey = (chosen: string | undefined) => setKeys({ apiKey: chosen, offered: undefined, problem: '' })
  const [accepted, setAccepted] = useState<Pick<Session, 'apiKey' | 'key'>>()
  const [revision, setRevision] = useState(0)

  useEffect(() => {
    addEventListener('hashchange', () => {
      if (location.hash.startsWith('#key=')) setKeys(takeKeys())
    })
  }, [])

  useEffect(() => {
    if (apiKey === undefined) return
    const abort = new AbortController()
    const onWait = () => setKeys((keys) => ({ ...keys, problem: 'The server is busy; the key is checked again.' }))
    get(apiKey, { path: '/key', query: {} }, abort.signal, onWait).then(
      (key) => {
        sessionStorage.setItem(keyItem, apiKey)
        valueNames.clear()
        setAccepted({ apiKey, key })
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        const isRefused = error instanceof TributaryError && error.status === 401
        if (isRefused && sessionStorage.getItem(keyItem) === apiKey) sessionStorage.removeItem(keyItem)
        // Without its second clause, which says which header a program sends.
        const reason = errorText(error).replace(/;[^.]*/, '')
        setKeys((keys) => ({ apiKey: isRefused ? keys.offered : undefined, offered: undefined, problem: reason }))
      },
    )
    return () => abort.abort()
  }, [apiKey])

  function leave() {
    sessionStorage.removeItem(keyItem)
    setApiKey(undefined)
  }

  if (apiKey !== undefined && offered !== undefined)
    return <KeyChoice present={apiKey} offered={offered} onKey={setApiKey} />
  if (apiKey === undefined) return <KeyForm problem={problem} onKey={setApiKey} />
  if (accepted?.apiKey !== apiKey)
    return (
      <main class="key-form" aria-busy="true">
        <h2>Explore</h2>
        <Problem text={problem} />
      </main>
    )
  return (
    <SessionContext.Provider value={{ ...accepted, revision }}>
      <Explorer onRefresh={() => setRevision((before) => before + 1)} onLeave={leave} />
    </SessionContext.Provider>
  )
}

/**
 * Takes the key of the fragment, `#key=`, out of the address. It moves to the session storage if that has no key; another key than
 * the stored one is `offered`, since any page can have such a link.
 */
function takeKeys() {
  const given = new URLSearchParams(location.hash.slice(1)).get('key') || undefined
  if (given) history.replaceState(null, '', location.pathname + location.search)
  const apiKey = sessionStorage.getItem(keyItem) ?? given
  if (apiKey) sessionStorage.setItem(keyItem, apiKey)
  return { apiKey, offered: given === apiKey ? undefined : given, problem: '' }
}
