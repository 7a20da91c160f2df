// A page whose browser refuses to keep texts, since it blocks cookies or is full, gets storage that ends with the page. The
// documentation page loads this file too.

for (const name of ['localStorage', 'sessionStorage'] as const) {
  try {
    window[name].setItem('tributary', '')
    window[name].removeItem('tributary')
  } catch {
    const kept = new Map<string, string>()
    const value = {
      getItem: (item: string) => kept.get(item) ?? null,
      setItem: (item: string, text: string) => void kept.set(item, text),
      removeItem: (item: string) => void kept.delete(item),
    }
    Object.defineProperty(window, name, { value })
  }
}
