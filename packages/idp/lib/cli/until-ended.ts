/** Runs `close` when the process receives a signal, and ends it. A second signal ends it at once. */
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
