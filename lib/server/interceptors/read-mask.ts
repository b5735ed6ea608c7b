import { create, type Message } from '@bufbuild/protobuf'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import { type Method, valueOf } from '../chain/method.js'
import { pick, type ReadTree, readTree } from '../methods/read-tree.js'
import { withReply } from '../chain/reply.js'
import { announceEtag } from './etag.js'

/** Returns only the fields of `read_mask` (AIP-157); in a list, of each item. */
export const readMask =
  (): Interceptor<unknown, Passed<'etag'>> =>
  (next, { method }) => {
    const { readMask: read, readable } = method
    if (read === undefined) return next
    return (call) => {
      const paths = call.request === undefined ? [] : read(call.request)
      const tree = paths.length === 0 ? undefined : readTree(paths, readable.message)
      if (tree === undefined) return next(call)
      return withReply(next(call), (reply) => {
        if (Symbol.asyncIterator in reply) return eachPicked(reply, method, tree)
        announceEtag(call, reply)
        return picked(reply, method, tree)
      })
    }
  }

const picked = (message: Message, { desc, readable }: Method, tree: ReadTree): Message => {
  const { items } = readable
  if (items === undefined) return pick(message, tree, readable.message)
  const values = (valueOf(message, items) as Message[]).map((item) => pick(item, tree, readable.message))
  return Object.assign(create(desc.output), message, { [items.localName]: values })
}

async function* eachPicked(messages: AsyncIterable<Message>, method: Method, tree: ReadTree) {
  for await (const message of messages) yield picked(message, method, tree)
}
