import { slice } from './slice.js'
import type { SideModule } from './subject.js'

/**
 * Runs one side in its own process: sets it up, then answers each request for a slice until the parent ends.
 */
export interface SliceRequest {
  readonly operation: string
  readonly concurrency: number
  readonly ms: number
}

const started = performance.now()
const module = (await import(process.argv[2] ?? '')) as SideModule
const side = await module.setUp()

process.on('message', (request: SliceRequest) => void answer(request))
process.on('disconnect', () => void Promise.resolve(side.tearDown?.()).then(() => process.exit(0)))
process.send?.({ readyMs: performance.now() - started, rss: process.memoryUsage().rss })

async function answer({ operation: name, concurrency, ms }: SliceRequest): Promise<void> {
  try {
    const operation = side.operations[name]
    if (operation === undefined) throw new TypeError(`the side has no operation ${name}`)
    process.send?.(await slice(side, operation, concurrency, ms))
  } catch (error) {
    process.send?.({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}
