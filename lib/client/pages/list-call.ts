import {
  clone,
  type DescField,
  type DescMessage,
  type DescMethod,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf'
import { AshlarError } from '../../errors.js'
import type { Local } from '../../resource/messages/local-field.js'

/**
 * A list call. Awaited, it returns one page. Iterated, it returns all items of all pages. It is sent when it
 * is awaited or iterated.
 * @example
 * ```ts
 * import type { Client } from 'ashlar/client'
 * import type { WidgetService } from './gen/widgets_pb.js'
 *
 * export async function sizes(widgets: Client<typeof WidgetService>): Promise<number> {
 *   const { widgets: firstPage } = await widgets.listWidgets({ pageSize: 10 })
 *   let sum = 0
 *   for await (const { size } of widgets.listWidgets({ filter: 'size > 3' })) sum += size
 *   return firstPage.length + sum
 * }
 * ```
 */
export interface ListCall<Response, Item> extends Promise<Response>, AsyncIterable<Item> {
  /** Iterates over all pages. */
  pages(): AsyncIterable<Response>
}

/** The names of the fields that make a method a list. */
export interface ListShape {
  readonly input: DescMessage
  readonly token: string
  readonly nextToken: string
  readonly items: string
}

/**
 * Returns the list fields of a method: a page token in the request and in the response, and exactly one list
 * of messages. Undefined for other methods.
 */
export const listShapeOf = ({ input, output, methodKind }: DescMethod): ListShape | undefined => {
  if (methodKind !== 'unary') return undefined
  const token = input.fields.find((field) => field.name === 'page_token' && isText(field))
  const nextToken = output.fields.find((field) => field.name === 'next_page_token' && isText(field))
  const [items, another] = output.fields.filter(
    ({ fieldKind, message }) => fieldKind === 'list' && message !== undefined,
  )
  if (token === undefined || nextToken === undefined || items === undefined || another !== undefined)
    return undefined
  return { input, token: token.localName, nextToken: nextToken.localName, items: items.localName }
}

const isText = ({ fieldKind, scalar }: DescField): boolean =>
  fieldKind === 'scalar' && scalar === ScalarType.STRING

/**
 * Creates the call of a list.
 * @param send - requests one page.
 */
export function listCall(
  shape: ListShape,
  request: Message,
  send: (request: Message) => Promise<Message>,
): ListCall<Message, Message> {
  let first: Promise<Message> | undefined
  const page = () => (first ??= send(request))
  const pages = () => pagesFrom(shape, request, send)
  return {
    then: (resolved, rejected) => page().then(resolved, rejected),
    catch: (rejected) => page().catch(rejected),
    finally: (done) => page().finally(done),
    [Symbol.toStringTag]: 'ListCall',
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const one of pages()) yield* (one as Local)[shape.items] as readonly Message[]
    },
  }
}

async function* pagesFrom(
  { input, token, nextToken }: ListShape,
  request: Message,
  send: (request: Message) => Promise<Message>,
): AsyncIterable<Message> {
  let sent = (request as Local)[token] as string
  // A repeated token would make the list endless. One token is remembered, and replaced after 2, 4, 8 and so
  // on pages.
  let remembered = sent
  for (let pages = 1, next = 2; ; pages++) {
    const page = await send(Object.assign(clone(input, request), { [token]: sent }))
    yield page
    const received = (page as Local)[nextToken] as string
    if (received === '') return
    if (received === sent || received === remembered)
      throw new AshlarError('INTERNAL', 'next_page_token: the server returned the same page token twice')
    sent = received
    if (pages === next) [remembered, next] = [received, next * 2]
  }
}
