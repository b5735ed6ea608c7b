/** How long a service may take to end what runs, before it is killed: somebody waits for the next one. */
export const LONGEST_STOP_MS = 1_500

/** Ends the process when the one that started it is gone, also where that was killed. */
function endWithParent(longestStopMs: number): void {
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM')
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), longestStopMs)
  })
  // A process that has nothing left to do ends by itself.
  process.channel?.unref()
}

/** A module for `--import` in a process with the channel `ipc`. It is its own text, because a bundle has no file of it. */
export const ENDS_WITH_PARENT = `data:text/javascript,${encodeURIComponent(`(${endWithParent.toString()})(${LONGEST_STOP_MS})`)}`
