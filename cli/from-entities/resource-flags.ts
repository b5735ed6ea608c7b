import { Args, Flags } from '@oclif/core'

/** Returns a flag that may be repeated, with one value each time. */
export const several = (summary: string, helpValue: string) =>
  Flags.string({
    ...{ summary: `${summary} May be repeated.`, helpValue, default: [] },
    ...{ multiple: true, multipleNonGreedy: true },
  })

export const folderArgument = Args.string({ description: 'The folder of the project.', default: '.' })

/** The flags of commands that write resources of existing classes or tables. */
export const resourceFlags = {
  'without-tenants': Flags.boolean({ summary: 'The application has no tenants.' }),
  'read-only': several('A class that clients only read.', '<class>'),
  shared: several('A class whose rows all tenants share.', '<class>'),
  show: several('A property to show although its name says that it holds a secret.', '<Class.property>'),
  package: Flags.string({
    summary: 'The protobuf package. Default: the name of the folder, as in shop.v1.',
    helpValue: '<package>',
  }),
}
