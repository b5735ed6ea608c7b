import type { Message } from '@bufbuild/protobuf'
import { PermissionDenied } from '../../errors.js'

/** The stream, its first message already drawn and checked, each further one checked as it is drawn. */
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
