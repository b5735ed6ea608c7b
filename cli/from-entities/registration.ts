import type { EntityNames } from './entity-proto.js'

export interface RegisteredEntity {
  readonly names: EntityNames
  readonly entity: string
  /** The path of its source from the project's folder. */
  readonly source: string
}

/** Returns the source of the module that registers the entities' services. */
export function registrationText(
  entities: readonly RegisteredEntity[],
  extension: 'js' | 'none',
  withoutTenants: boolean,
): string {
  const end = extension === 'js' ? '.js' : ''
  const from = (source: string) => {
    const path = source.replaceAll('\\', '/').replace(/\.[mc]?ts$/, '')
    return `${path.startsWith('src/') ? `./${path.slice('src/'.length)}` : `../${path}`}${end}`
  }
  return `import { repositoryFor, type ServerBuilder } from 'ashlar'
${withoutTenants ? "import { withoutTenants } from 'ashlar/decorators'\n" : ''}import type { DataSource } from 'typeorm'
${entities
  .flatMap(({ names, entity, source }) => [
    `import { ${names.type}Service } from './gen/${names.file}_pb${end}'`,
    `import { ${entity} } from '${from(source)}'`,
  ])
  .join('\n')}
${withoutTenants ? '\nwithoutTenants()\n' : ''}
// For commands: --entities names this module after it is compiled.
export { ${entities.map(({ entity }) => entity).join(', ')} }

/** Registers the services of all entities. The repositories serve their standard methods. */
export function registerResources(server: ServerBuilder, dataSource: DataSource): void {
${entities.map(({ names, entity }) => `  server.register(${names.type}Service, repositoryFor(${entity}, dataSource))`).join('\n')}
}
`
}
