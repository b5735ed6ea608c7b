import { create, type DescMessage, type Message } from '@bufbuild/protobuf'
import type { Call } from '../chain/call.js'
import { messageOfReply } from '../chain/entity-reply.js'
import type { Interceptor, Passed, Reply } from '../chain/interceptor.js'
import { type Method, valueOf } from '../chain/method.js'
import { expand } from '../expansion/expand.js'
import { expansionTree, holdsRelation } from '../expansion/expansion-tree.js'
import type { ReadableRelations } from '../expansion/readable-relations.js'
import type { RelatedReader } from '../expansion/related-reader.js'
import { pick, type ReadTree, readTree } from '../methods/read-tree.js'
import { withReply } from '../chain/reply.js'
import type { Authorized } from './authorization.js'
import { announceEtag } from '../chain/response.js'
import type { RequestId } from './request-id.js'

/**
 * Returns messages in which the references that the read mask names are replaced by resources of other
 * processes.
 */
export type ShowReferences = (
  messages: readonly Message[],
  tree: ReadTree,
  call: Call & RequestId,
) => Promise<readonly Message[]>

/** The readers of related resources that a mask can show. */
export interface Related {
  readonly relations: Pick<ReadableRelations, 'byMessage'>
  readonly reader: RelatedReader
  /** Returns the reader for resources of other processes; undefined if the message refers to none. */
  readonly referencesOf: (desc: DescMessage) => ShowReferences | undefined
}

type Needs = RequestId & Authorized & Passed<'etag'>

/**
 * Returns only the fields in `read_mask` (AIP-157), for a list in each item, and the related resources that
 * the mask names.
 */
export const readMask =
  ({ relations, reader, referencesOf }: Related): Interceptor<unknown, Needs> =>
  (next, { method }) => {
    const { readMask: read, readable } = method
    if (read === undefined) return next
    const expands = holdsRelation(readable.message, relations)
    const show = referencesOf(readable.message)
    return (call) => {
      const paths = call.request === undefined ? [] : read(call.request)
      const tree = paths.length === 0 ? undefined : readTree(paths, readable.message)
      const related =
        expands && paths.length > 0 ? expansionTree(paths, readable.message, relations) : undefined
      const named = show === undefined ? undefined : (tree ?? besideAll(paths, readable.message))
      if (related !== undefined || named !== undefined) {
        const expandAll: ExpandAll = async (messages) => {
          const { principal, context, time } = call
          // The byte limit applies to each message of a stream separately.
          const reading = { principal, context, time }
          const own = related === undefined ? messages : await expand(messages, related, reader, reading)
          return show === undefined || named === undefined ? own : show(own, named, call)
        }
        const expanded = (message: Message) => expandedReply(message, method, expandAll)
        const all = (message: Message) => (tree === undefined ? message : picked(message, method, tree))
        const shown = (reply: Reply): Reply | Promise<Reply> => {
          if (Symbol.asyncIterator in reply) return eachShown(reply, async (one) => all(await expanded(one)))
          announceEtag(call, reply)
          return call.time.step(expanded(messageOfReply(reply))).then(all)
        }
        const reply = next(call)
        return reply instanceof Promise ? reply.then(shown) : shown(reply)
      }
      if (tree === undefined) return next(call)
      return withReply(next(call), (reply) => {
        if (Symbol.asyncIterator in reply) return eachPicked(reply, method, tree)
        announceEtag(call, reply)
        return picked(messageOfReply(reply), method, tree)
      })
    }
  }

/**
 * Returns the other fields of a mask that contains `*`. For example, `*,maker` is the whole message plus the
 * maker.
 */
const besideAll = (paths: readonly string[], message: DescMessage): ReadTree | undefined => {
  const others = paths.filter((path) => path !== '*')
  return others.length === 0 ? undefined : readTree(others, message)
}

type ExpandAll = (messages: readonly Message[]) => Promise<readonly Message[]>

const expandedReply = async (
  message: Message,
  { desc, readable: { items } }: Method,
  expandAll: ExpandAll,
): Promise<Message> => {
  if (items === undefined) return (await expandAll([message]))[0] as Message
  const values = await expandAll(valueOf(message, items) as Message[])
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
