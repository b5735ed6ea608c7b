import type { InspectedResource } from '../../lib/persistence/index.js'
import type { StartUpProblem } from './checked-server.js'
import type { TableDifference, TableNote } from '../../lib/text/table-difference.js'
import { Failure } from '../errors/failure.js'
import { noEntities } from '../loading/entities.js'
import { foreignModule } from '../loading/foreign-module.js'
import { checkedServer } from './checked-server.js'
import { comparedTables, NOT_COMPARED } from './compared-tables.js'
import { connectionString } from '../migrate/connection-string.js'

/** The parsed flags of `check`. */
export interface CheckFlags {
  readonly entities: string | undefined
  readonly server: string | undefined
  readonly exportName: string | undefined
  readonly url: string | undefined
}

/** A resource class, with the differences between its table and the table that Ashlar would create. */
export interface CheckedResource extends InspectedResource {
  readonly differences: readonly (TableDifference | TableNote)[]
}

export interface ProjectCheck {
  readonly resources: readonly CheckedResource[]
  /** Notes that concern no single class, such as a skipped check. */
  readonly notes: readonly string[]
  /** The problems that prevent startup. */
  readonly problems: readonly StartUpProblem[]
}

/**
 * Runs every check of a project that does not need a running server, and collects all problems.
 * @throws {Failure} if a module cannot be loaded for a reason other than its declarations.
 */
export async function projectCheck(flags: CheckFlags): Promise<ProjectCheck> {
  const { entities, url } = flags
  const [{ inspectResources }, { inspectRules, unknownTypes }] = await Promise.all([
    import('../../lib/persistence/index.js'),
    import('../../lib/server/index.js'),
  ])
  const exports = entities === undefined ? undefined : await foreignModule(entities)
  const server = await checkedServer(flags.server, flags.exportName)
  const declared = exports ?? server.entities
  const dsn = url === undefined ? undefined : await connectionString(url)
  const inspection = await inspectResources(declared, dsn)
  const { resources, invalid, services, isConnected } = inspection
  if (resources.length === 0) throw nothingDeclared(flags)
  const valid = Object.values(declared).filter((one) => !invalid.includes(one))
  const tables = dsn === undefined || !isConnected ? NOT_COMPARED : await comparedTables(dsn, valid)
  const types = new Set(resources.map(({ type }) => type))
  const ofRules =
    server.rules === undefined
      ? inspectRules(services, types)
      : { problems: [], notes: unknownTypes(server.rules, types) }
  return {
    resources: resources.map((resource) => ({
      ...resource,
      notes: distinct([
        ...resource.notes,
        ...server.warnings.filter(({ entity }) => entity === resource.entity).map(({ text }) => text),
      ]),
      differences: tables.of(resource.table),
    })),
    notes: distinct([...ofRules.notes, ...inspection.notes, ...server.notes, ...tables.notes]),
    problems: distinctProblems([...inspection.problems, ...ofRules.problems, ...server.problems]),
  }
}

const nothingDeclared = ({ entities, server }: CheckFlags): Failure =>
  entities === undefined
    ? new Failure(
        'input',
        `${server === undefined ? 'nothing to check' : `${server} has no resource`}: name the compiled module of the entities with --entities`,
      )
    : noEntities(entities)

const distinct = (texts: readonly string[]): readonly string[] => [...new Set(texts)]

const distinctProblems = (problems: readonly StartUpProblem[]): readonly StartUpProblem[] => [
  ...new Map(problems.map((one) => [one.text, one])).values(),
]
