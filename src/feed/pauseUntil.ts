/** Pauses for some milliseconds. @param onWake receives a function that ends the pause */
export function pauseUntil(ms: number, onWake: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, Math.ceil(ms))
    onWake(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
