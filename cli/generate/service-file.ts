import type { ResourceNames } from './resource-names.js'

/** The way in which a project registers its services: a function for the builder, or a Nest module. */
export interface Registration {
  /** Returns the path of a service's file, next to its entity. */
  readonly fileOf: (names: ResourceNames) => string
  readonly textOf: (names: ResourceNames, generated: string) => string
  /** The file that exports all services. */
  readonly list: string
  readonly exportOf: (names: ResourceNames) => string
}

const PLAIN: Registration = {
  fileOf: ({ file }) => `${file}-service.ts`,
  textOf: ({ type, types, file }, generated) => `import { repositoryFor, type ServerBuilder } from 'ashlar'
import type { DataSource } from 'typeorm'
import { ${type}Service } from '${generated}'
import { ${type} } from './${file}.js'

/** The repository serves the standard methods. Implement others in a third argument. */
export function register${types}(server: ServerBuilder, dataSource: DataSource): void {
  server.register(${type}Service, repositoryFor(${type}, dataSource))
}
`,
  list: 'src/services.ts',
  exportOf: ({ types, folder, file }) => `export { register${types} } from './${folder}/${file}-service.js'`,
}

const NEST: Registration = {
  fileOf: ({ folder }) => `${folder}.module.ts`,
  textOf: ({ type, types, file }, generated) => `import { Module } from '@nestjs/common'
import { AshlarModule, provideService } from 'ashlar/nest'
import { ${type}Service } from '${generated}'
import { ${type} } from './${file}.js'

/** The repository serves the standard methods. Implement others in a provider, as \`methods\`. */
@Module({
  imports: [AshlarModule.forFeature([${type}])],
  providers: [provideService(${type}Service, { repository: ${type} })],
})
export class ${types}Module {}
`,
  list: 'src/modules.ts',
  exportOf: ({ types, folder }) => `export { ${types}Module } from './${folder}/${folder}.module.js'`,
}

export const REGISTRATIONS: readonly Registration[] = [PLAIN, NEST]

/** Appends a line unless the text contains it. */
export const withLine = (text: string, line: string): string =>
  text.split('\n').includes(line) ? text : `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`
