import { Metadata as NiceMetadata } from 'nice-grpc-common'
import type { Metadata } from '../../call.js'

/** Wraps metadata as nice-grpc's type. Both share the values. Several strings of one name are joined. */
export const asNiceMetadata = (metadata: Metadata): NiceMetadata => {
  const valuesOf = (name: string): (string | Uint8Array)[] => {
    const values = metadata.getAll(name)
    if (name.toLowerCase().endsWith('-bin')) return values.map((value) => Buffer.from(value, 'base64'))
    return values.length === 0 ? [] : [values.join(', ')]
  }
  const write = (name: string, value: unknown, how: 'set' | 'append') => {
    // Rejects values that gRPC cannot transmit, as nice-grpc does.
    const checked = NiceMetadata().set(name, value as string)
    if (how === 'set') metadata.delete(name)
    for (const each of checked.getAll(name) as readonly (string | Uint8Array)[])
      metadata.append(name, typeof each === 'string' ? each : Buffer.from(each).toString('base64'))
    return view
  }
  const view: NiceMetadata = {
    set: (name, value) => write(name, value, 'set'),
    append: (name, value) => write(name, value, 'append'),
    delete: (name) => void metadata.delete(name),
    // In nice-grpc's types the type of a value depends on its name, which is not known here.
    get: (name) => valuesOf(name)[0] as never,
    getAll: (name) => valuesOf(name) as never,
    has: (name) => metadata.get(name) !== undefined,
    *[Symbol.iterator]() {
      const names = new Set([...metadata.entries()].map(([name]) => name))
      for (const name of names) yield [name, valuesOf(name)]
    },
  }
  return view
}
