import { useEffect, useState } from 'preact/hooks'
import { TributaryError } from '../packages/client/client.ts'
import { Explorer } from './explorer.tsx'
import { forgetKey, keepKey, takeKey } from './key.ts'
import { KeyForm } from './keyForm.tsx'
import { errorText, get, type Session, SessionContext } from './request.ts'

/** The page: asks for a key until the API accepts one, then shows its numbers. */
export function App() {
  const [apiKey, setApiKey] = useState(takeKey)
  const [key, setKey] = useState<Session['key']>()
  const [problem, setProblem] = useState('')
  const [revision, setRevision] = useState(0)

  useEffect(() => {
    const onHash = () => {
      if (location.hash.startsWith('#key=')) setApiKey(takeKey())
    }
    addEventListener('hashchange', onHash)
    return () => removeEventListener('hashchange', onHash)
  }, [])

  useEffect(() => {
    setKey(undefined)
    if (apiKey === undefined) return
    const abort = new AbortController()
    const onWait = () => setProblem('The server is busy; the key is checked again.')
    get(apiKey, { path: '/key', query: {} }, { signal: abort.signal, onWait }).then(
      (accepted) => {
        keepKey(apiKey)
        setProblem('')
        setKey(accepted)
      },
      (error: unknown) => {
        if (abort.signal.aborted) return
        // Without its second clause, which says which header a program sends.
        setProblem(errorText(error).replace(/;[^.]*/, ''))
        if (error instanceof TributaryError && error.status === 401) forgetKey()
        setApiKey(undefined)
      },
    )
    return () => abort.abort()
  }, [apiKey])

  function leave() {
    forgetKey()
    setApiKey(undefined)
  }

  if (apiKey === undefined || !key)
    return <KeyForm isChecking={apiKey !== undefined} problem={problem} onKey={setApiKey} />
  return (
    <SessionContext.Provider value={{ apiKey, key, revision }}>
      <Explorer onRefresh={() => setRevision((before) => before + 1)} onLeave={leave} />
    </SessionContext.Provider>
  )
}
