import type { Message } from '@bufbuild/protobuf'
import { PermissionDenied } from '../../errors.js'

/**
 * Reads and checks the first message of a stream, then returns the whole stream. Each further message is
 * checked when it is read.
 */
export const checkedFromFirst = async (
  requests: AsyncIterable<Message>,
  check: (message: Message) => Promise<void> | undefined,
): Promise<AsyncIterable<Message>> => {
  const iterator = requests[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done === true) throw new PermissionDenied()
  await check(first.value)
  return (async function* () {
    try {
      yield first.value
      for (;;) {
        const item = await iterator.next()
        if (item.done === true) return
        await check(item.value)
        yield item.value
      }
    } finally {
      await iterator.return?.()
    }
  })()
}
