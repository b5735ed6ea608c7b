/** Waits so many milliseconds, or until the signal aborts or `early` resolves. */
export async function pause(ms: number, signal: AbortSignal, early?: Promise<void>): Promise<void> {
  if (signal.aborted) return
  let timer: NodeJS.Timeout | undefined
  let over: () => void = () => {}
  const waiting = new Promise<void>((resolve) => {
    over = resolve
    timer = setTimeout(resolve, ms)
  })
  signal.addEventListener('abort', over, { once: true })
  try {
    await (early === undefined ? waiting : Promise.race([waiting, early]))
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', over)
  }
}
