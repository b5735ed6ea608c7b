import { create, type DescField, type DescMessage } from '@bufbuild/protobuf'
import type { Page } from '../../persistence/contract/repository.js'
import { fieldWriter } from '../../resource/wire/field-writers.js'
import { inOrder, messageWriter } from '../../resource/wire/message-writer.js'
import { tagOf, WIRE, type Write } from '../../resource/wire/scalar-writers.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { ReplyForm } from '../chain/entity-reply.js'

/** A response that is the resource itself. */
export const entityForm = (model: ResourceModel, desc: DescMessage): ReplyForm<object> => {
  const etag = desc.fields.find(({ name }) => name === 'etag')?.localName
  return {
    desc,
    toMessage: (entity) => model.toMessage(entity),
    write: model.write,
    etag: etag !== undefined && model.byProperty.has(etag) ? etag : undefined,
  }
}

/** A page, or all of the entities of a batch, with the total where it was counted. */
export type Listed = Pick<Page<object>, 'items'> & {
  readonly nextPageToken?: string
  readonly total?: number
}

/** A response with the resources in one of its fields. @param total - the field of `total_size`, where it is filled. */
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
