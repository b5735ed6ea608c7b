/**
 * Runs `close` when the process receives a signal, and then ends the process. A second signal ends it
 * immediately.
 */
export function untilEnded(close: () => Promise<void>): void {
  let isEnding = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (isEnding) process.exit(130)
      isEnding = true
      void close().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
    })
}
