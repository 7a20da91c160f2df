import { useEffect, useRef, useState } from 'preact/hooks'
import { TributaryError } from '../packages/client/error.ts'
import { Explorer } from './explorer.tsx'
import { KeyChoice, KeyForm } from './keyForm.tsx'
import { errorText, get, type Session, SessionContext, valueNames } from './request.ts'

// The documentation page keeps the key under the same name, so that both pages of a tab use one key.
const keyItem = 'tributary-key'

/** The page: asks for a key until the API accepts one, then shows its numbers. */
export function App() {
  const [{ apiKey, offered }, setKeys] = useState(takeKeys)
  const setApiKey = (chosen: string | undefined) => setKeys({ apiKey: chosen, offered: undefined })
  const [accepted, setAccepted] = useState<Pick<Session, 'apiKey' | 'key'>>()
  const [problem, setProblem] = useState('')
  const [revision, setRevision] = useState(0)
  // The form is not shown while the key of a link or of the tab is checked.
  const isAsked = useRef(false)

  useEffect(() => {
    const onHash = () => {
      if (location.hash.startsWith('#key=')) setKeys(takeKeys())
    }
    addEventListener('hashchange', onHash)
    return () => removeEventListener('hashchange', onHash)
  }, [])

  useEffect(() => {
    setAccepted(undefined)
    if (apiKey === undefined) return
    const abort = new AbortController()
    const onWait = () => setProblem('The server is busy; the key is checked again.')
    get(apiKey, { path: '/key', query: {} }, abort.signal, onWait).then(
      (key) => {
        sessionStorage.setItem(keyItem, apiKey)
        setProblem('')
        valueNames.clear()
        setAccepted({ apiKey, key })
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        // Without its second clause, which says which header a program sends.
        setProblem(errorText(error).replace(/;[^.]*/, ''))
        const isRefused = error instanceof TributaryError && error.status === 401
        if (isRefused && sessionStorage.getItem(keyItem) === apiKey) sessionStorage.removeItem(keyItem)
        setKeys((keys) => ({ apiKey: isRefused ? keys.offered : undefined, offered: undefined }))
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
  // After a change of the key, the page renders once before the effect clears `accepted`.
  if (apiKey === undefined || accepted?.apiKey !== apiKey) {
    isAsked.current ||= apiKey === undefined || problem !== ''
    if (!isAsked.current)
      return (
        <main class="key-form" aria-busy="true">
          <h2>Explore</h2>
        </main>
      )
    return <KeyForm isChecking={apiKey !== undefined} problem={problem} onKey={setApiKey} />
  }
  isAsked.current = false
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
function takeKeys(): { apiKey: string | undefined; offered: string | undefined } {
  const given = new URLSearchParams(location.hash.slice(1)).get('key')
  if (given !== null) history.replaceState(null, '', location.pathname + location.search)
  const stored = sessionStorage.getItem(keyItem) ?? undefined
  if (given && stored === undefined) sessionStorage.setItem(keyItem, given)
  const isOther = given && stored !== undefined && given !== stored
  return { apiKey: stored ?? (given || undefined), offered: isOther ? given : undefined }
}
