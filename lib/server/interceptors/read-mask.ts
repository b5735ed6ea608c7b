import { create, type Message } from '@bufbuild/protobuf'
import type { Interceptor, Passed } from '../chain/interceptor.js'
import { type Method, valueOf } from '../chain/method.js'
import { pick, type ReadTree, readTree } from '../methods/read-tree.js'
import { isStream, whenAnswered } from '../chain/reply.js'
import { announceEtag, type Precondition } from './etag.js'

/** Answers only the fields that `read_mask` names (AIP-157), of each item where the answer is a list. */
export const readMask = (): Interceptor<Passed<'readMask'>, Precondition> => (call, next) => {
  const { method, request } = call
  const paths = request === undefined ? [] : (method.readMask?.(request) ?? [])
  const tree = paths.length === 0 ? undefined : readTree(paths, method.readable.message)
  const reply = next(call.passed('readMask'))
  if (tree === undefined) return reply
  return whenAnswered(reply, (message) => {
    if (isStream(message)) return eachPicked(message, method, tree)
    announceEtag(call, message)
    return picked(message, method, tree)
  })
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
