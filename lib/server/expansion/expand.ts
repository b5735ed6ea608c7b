import { type Message, toBinary } from '@bufbuild/protobuf'
import { ResourceExhausted } from '../../errors.js'
import { elementBytes } from '../../persistence/bytes/counted-bytes.js'
import type { Local } from '../../resource/messages/local-field.js'
import type { Expansion, ExpansionTree } from './expansion-tree.js'
import type { ReadingCall, RelatedReader } from './related-reader.js'

/** The maximum size in bytes of all repeated copies of resources in one response. */
export const MAX_REPEATED_BYTES = 16 * 1024 * 1024

/**
 * Returns copies of the messages with their related resources, using one statement for each relation. The
 * originals are not changed.
 */
export async function expand(
  messages: readonly Message[],
  tree: ExpansionTree,
  reader: RelatedReader,
  call: ReadingCall,
): Promise<Message[]> {
  const copies = messages.map((message) =>
    Object.assign(Object.create(Object.getPrototypeOf(message) as object) as Local, message),
  )
  // Sequential, because the relations share one byte limit.
  for (const [{ localName }, expansion] of tree) await expandField(copies, localName, expansion, reader, call)
  return copies
}

async function expandField(
  copies: readonly Local[],
  localName: string,
  { relation, below }: Expansion,
  reader: RelatedReader,
  call: ReadingCall,
): Promise<void> {
  if (relation === undefined) {
    const holders = copies.filter((copy) => copy[localName] !== undefined)
    const inner = await expand(
      holders.map((copy) => copy[localName] as Message),
      below,
      reader,
      call,
    )
    for (const [i, holder] of holders.entries()) holder[localName] = inner[i]
    return
  }
  const { reference, target } = relation
  const keyOf = (copy: Local) =>
    String((copy[reference.localName] as string | number | bigint | undefined) ?? '')
  const counts = new Map<string, number>()
  for (const copy of copies) counts.set(keyOf(copy), (counts.get(keyOf(copy)) ?? 0) + 1)
  counts.delete('')
  const read = counts.size === 0 ? [] : [...(await reader.read(relation, [...counts.keys()], call))]
  const shown = await expand(
    read.map(([, message]) => message),
    below,
    reader,
    call,
  )
  const byKey = new Map(read.map(([key], i) => [key, shown[i] as Message]))
  let repeated = 0
  for (const [key, message] of byKey) {
    const count = counts.get(key) ?? 0
    if (count > 1) repeated += count * Math.max(toBinary(target, message).length, elementBytes(message))
    if (repeated > MAX_REPEATED_BYTES)
      throw new ResourceExhausted(
        `read_mask: ${relation.field.name} would repeat more than ${MAX_REPEATED_BYTES} bytes: request a smaller page`,
      )
  }
  for (const copy of copies) copy[localName] = byKey.get(keyOf(copy))
}
