// The documentation page keeps the key under the same name, so that both pages of a tab use one key.
const storageName = 'tributary-key'

/**
 * The key of the fragment of the address, `#key=`, else the key of the session. A key in the fragment moves to the session
 * storage and out of the address.
 */
export function takeKey(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get('key')
  if (given !== null) {
    history.replaceState(null, '', location.pathname + location.search)
    if (given) keepKey(given)
  }
  return sessionStorage.getItem(storageName) ?? undefined
}

/** Keeps a key until the tab is closed. */
export function keepKey(key: string): void {
  sessionStorage.setItem(storageName, key)
}

export function forgetKey(): void {
  sessionStorage.removeItem(storageName)
}
