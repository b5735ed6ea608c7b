import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
export const ORDERS = join(ROOT, 'examples/orders')
export const ORDERS_PEER = join(ROOT, 'bench/peers/orders')

export interface SourceSize {
  readonly what: string
  readonly lines: number
  readonly bytes: number
}

/**
 * Returns the non-blank lines and bytes of the order service and its peer. The tour is excluded because it is
 * a client, and the warehouse because the peer has none.
 */
export function sizesOfOrders(): readonly SourceSize[] {
  const own = readdirSync(ORDERS).filter(
    (name) => name.endsWith('.ts') && !['tour.ts', 'warehouse.ts'].includes(name),
  )
  return [
    size(
      'Ashlar, TypeScript',
      own.map((name) => join(ORDERS, name)),
    ),
    size('Ashlar, .proto', [join(ORDERS, 'orders.proto')]),
    size(
      'Fastify and Kysely, TypeScript',
      readdirSync(ORDERS_PEER).map((name) => join(ORDERS_PEER, name)),
    ),
  ]
}

function size(what: string, files: readonly string[]): SourceSize {
  const texts = files.map((file) => readFileSync(file, 'utf8'))
  return {
    what,
    lines: texts.flatMap((text) => text.split('\n').filter((line) => line.trim() !== '')).length,
    bytes: texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
  }
}
