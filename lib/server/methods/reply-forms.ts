import { create, type DescField, type DescMessage } from '@bufbuild/protobuf'
import { entityWriter, type Member, objectWriter, unset } from '../../gateway/json/entity-writer.js'
import { joined, type JsonWriter, valueWriter } from '../../gateway/json/writer.js'
import type { Page } from '../../persistence/contract/repository.js'
import { fieldWriter } from '../../resource/wire/field-writers.js'
import { inOrder, messageWriter } from '../../resource/wire/message-writer.js'
import { tagOf, WIRE, type Write } from '../../resource/wire/scalar-writers.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { ReplyForm } from '../chain/entity-reply.js'

/** Returns the form of a response that is the resource itself. */
export const entityForm = (model: ResourceModel, desc: DescMessage): ReplyForm<object> => {
  const etag = model.byProto.get('etag')
  return {
    desc,
    toMessage: (entity) => model.toMessage(entity),
    write: model.write,
    writeJson: onceUsed(() => entityWriter(desc, model.outputs)),
    etag: etag?.exposed === true ? etag.property : model.versionEtag?.field.localName,
  }
}

/** A page, or all entities of a batch, with the total if it was counted. */
export type Listed = Pick<Page<object>, 'items'> & {
  readonly nextPageToken?: string
  readonly total?: number
}

/**
 * Returns the form of a response that contains the resources in one of its fields.
 * @param total - the field `total_size`, if it is filled.
 */
export const listForm = (
  model: ResourceModel,
  desc: DescMessage,
  items: DescField,
  total?: DescField,
): ReplyForm<Listed> => {
  const parts = inOrder(desc).flatMap((field): Write[] => {
    if (field === items) return [itemsWriter(model, field)]
    if (field.localName === 'nextPageToken') return [part(field, 'nextPageToken', '')]
    return field === total ? [part(field, 'total', 0)] : []
  })
  const member = (field: DescField): Member<Listed> => {
    if (field === items) return { field, valueOf: itemsOf(model, field) }
    const name = field.localName === 'nextPageToken' ? field.localName : field === total ? 'total' : undefined
    return { field, valueOf: name === undefined ? unset(field) : partOf(field, name) }
  }
  return {
    desc,
    toMessage: ({ items: entities, nextPageToken = '', total: totalSize }) =>
      create(desc, {
        [items.localName]: entities.map((entity) => model.toMessage(entity)),
        nextPageToken,
        ...(total !== undefined && { [total.localName]: totalSize }),
      }),
    write: (listed, out) => {
      for (const write of parts) write(listed, out)
    },
    writeJson: onceUsed(() => objectWriter(inOrder(desc).map(member))),
    etag: undefined,
  }
}

const itemsWriter = (model: ResourceModel, { number }: DescField): Write => {
  const tag = tagOf(number, WIRE.length)
  return (listed, out) => {
    for (const entity of (listed as Listed).items) {
      const start = out.begin(tag)
      model.write(entity, out)
      out.end(start)
    }
  }
}

const part = (field: DescField, name: 'nextPageToken' | 'total', empty: unknown): Write => {
  const write = fieldWriter(field, messageWriter)
  return (listed, out) => write((listed as Listed)[name] ?? empty, out)
}

/** Compiles the writer on first use, because most servers send only one of the two formats. */
const onceUsed = <T>(compile: () => JsonWriter<T>): JsonWriter<T> => {
  let writer: JsonWriter<T> | undefined
  return (value, options) => (writer ??= compile())(value, options)
}

const itemsOf = (model: ResourceModel, { message }: DescField): JsonWriter<Listed> => {
  const write = entityWriter(message as DescMessage, model.outputs)
  return ({ items }, options) => {
    let text = ''
    for (const entity of items) text = joined(text, write(entity, options), options)
    return `[${text}]`
  }
}

const partOf = (field: DescField, name: 'nextPageToken' | 'total'): JsonWriter<Listed> => {
  const write = valueWriter(field)
  return (listed, options) => write(listed[name] ?? (name === 'total' ? 0 : ''), options)
}
