import type { DescMessage, DescService } from '@bufbuild/protobuf'

export type Services = readonly DescService[]

/** The services in the files of messages. */
export const servicesBeside = (messages: readonly DescMessage[]): Services =>
  [...new Set(messages.map(({ file }) => file))].flatMap(({ services }) => services)
