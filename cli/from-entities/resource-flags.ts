import { Args, Flags } from '@oclif/core'

/** Returns a flag that may be repeated, with one value each time. */
export const several = (summary: string, helpValue: string) =>
  Flags.string({
    ...{ summary: `${summary} May be repeated.`, helpValue, default: [] },
    ...{ multiple: true, multipleNonGreedy: true },
  })

export const folderArgument = Args.string({ description: "The project's folder.", default: '.' })

/** The flags of commands that write resources of existing classes or tables. */
export const resourceFlags = {
  'without-tenants': Flags.boolean({ summary: 'The application has no tenants.' }),
  'read-only': several('A class that clients can only read.', '<class>'),
  shared: several('A class whose rows all tenants share.', '<class>'),
  show: several('A property to show although its name suggests a secret.', '<Class.property>'),
  package: Flags.string({
    summary: "The protobuf package. Default: the folder's name, as in shop.v1.",
    helpValue: '<package>',
  }),
}
