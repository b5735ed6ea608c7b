import type { DescMessage, DescService } from '@bufbuild/protobuf'

/** @inline */
export type Services = readonly DescService[]

/** Returns the services in the files of the messages. */
export const servicesBeside = (messages: readonly DescMessage[]): Services =>
  [...new Set(messages.map(({ file }) => file))].flatMap(({ services }) => services)
