import { create, type Message } from '@bufbuild/protobuf'
import type { Call } from '../chain/call.js'
import type { Interceptor, Passed, Reply } from '../chain/interceptor.js'
import { type Method, valueOf } from '../chain/method.js'
import { expand } from '../expansion/expand.js'
import { type ExpansionTree, expansionTree, holdsRelation } from '../expansion/expansion-tree.js'
import type { ReadableRelations } from '../expansion/readable-relations.js'
import type { RelatedReader } from '../expansion/related-reader.js'
import { pick, type ReadTree, readTree } from '../methods/read-tree.js'
import { withReply } from '../chain/reply.js'
import type { Authorized } from './authorization.js'
import { announceEtag } from './etag.js'
import type { RequestId } from './request-id.js'

/** What a mask shows beside the response itself, and who reads it. */
export interface Related {
  readonly relations: Pick<ReadableRelations, 'byMessage'>
  readonly reader: RelatedReader
}

type Needs = RequestId & Authorized & Passed<'etag'>

/** Returns only the fields of `read_mask` (AIP-157), in a list of each item, and the related resources that it names. */
export const readMask =
  ({ relations, reader }: Related): Interceptor<unknown, Needs> =>
  (next, { method }) => {
    const { readMask: read, readable } = method
    if (read === undefined) return next
    const expands = holdsRelation(readable.message, relations)
    return (call) => {
      const paths = call.request === undefined ? [] : read(call.request)
      const tree = paths.length === 0 ? undefined : readTree(paths, readable.message)
      const related =
        expands && paths.length > 0 ? expansionTree(paths, readable.message, relations) : undefined
      if (related !== undefined) {
        const expanded = (message: Message) => expandedReply(message, method, related, reader, call)
        const all = (message: Message) => (tree === undefined ? message : picked(message, method, tree))
        const shown = (reply: Reply): Reply | Promise<Reply> => {
          if (Symbol.asyncIterator in reply) return eachShown(reply, async (one) => all(await expanded(one)))
          announceEtag(call, reply)
          return call.time.step(expanded(reply)).then(all)
        }
        const reply = next(call)
        return reply instanceof Promise ? reply.then(shown) : shown(reply)
      }
      if (tree === undefined) return next(call)
      return withReply(next(call), (reply) => {
        if (Symbol.asyncIterator in reply) return eachPicked(reply, method, tree)
        announceEtag(call, reply)
        return picked(reply, method, tree)
      })
    }
  }

const expandedReply = async (
  message: Message,
  { desc, readable: { items } }: Method,
  tree: ExpansionTree,
  reader: RelatedReader,
  call: Call & Needs,
): Promise<Message> => {
  if (items === undefined) return (await expand([message], tree, reader, call))[0] as Message
  const values = await expand(valueOf(message, items) as Message[], tree, reader, call)
  return Object.assign(create(desc.output), message, { [items.localName]: values })
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

async function* eachShown(messages: AsyncIterable<Message>, show: (message: Message) => Promise<Message>) {
  for await (const message of messages) yield await show(message)
}
