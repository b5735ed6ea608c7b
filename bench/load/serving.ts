/** The message that a server sends when it is ready. */
export interface ServerReport {
  readonly ports: { readonly grpc?: number; readonly http?: number; readonly postgres?: number }
}

/**
 * Loaded into every server before its own code. Reports its CPU time and memory, and ends it together with
 * its parent.
 */
process.on('message', (what) => {
  const { user, system } = process.cpuUsage()
  process.send?.(what === 'cpu' ? user + system : process.memoryUsage.rss())
})
process.on('disconnect', () => process.exit(0))
