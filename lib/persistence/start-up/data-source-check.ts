import type { DataSource } from 'typeorm'
import { DeclarationError, inEntity, problem, type Problem } from '../../errors.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import type { StartUpFindings } from '../contract/repository.js'
import { deletionProblems } from '../deletion/rules/family.js'
import { membersOf, relativesOf } from '../deletion/sql/members-of.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import { isolationProblem } from '../engines/declared-isolation.js'
import type { Database, Executor, RunOptions } from '../engines/executor/executor.js'
import { referenceProblems } from '../references/reference-problems.js'
import { CollationCheck } from '../schema/collation-check.js'
import { foreignKeyProblems } from '../schema/foreign-keys.js'
import { refusedKeys } from '../schema/index-problems.js'
import { tableNameOf } from '../schema/table-name-of.js'
import { tableOf } from '../schema/table-of.js'
import { changedHeirs } from '../typeorm/changed-heirs.js'
import { distributedTable } from './citus-table.js'
import { entityProblems } from './entity-in-data-source.js'
import { type CheckedEntity, NOTHING, together } from './findings.js'
import { managerFindings, withoutZone } from './managed-otherwise.js'
import { relationNotes, unmanagedNotes } from './relation-notes.js'
import { subscriberFindings } from './subscriber-findings.js'
import { synchronizeFindings } from './synchronized-table.js'
import {
  deletionsWithoutMillis,
  LONGEST_ASK_MS,
  roundedFloats,
  unfilledColumns,
  withoutForeignKey,
} from './table-findings.js'

/**
 * Checks once that a DataSource has a repository's entity as its model describes it, that no TypeORM
 * subscriber waits for events that the repository never sends, and that the database compares strings
 * exactly.
 */
export class DataSourceCheck {
  /** The table of the repository's rows. */
  readonly table: TableName
  /** True while `run` must still be awaited. */
  isPending = true
  #isEntityPending = true
  readonly #checked: CheckedEntity
  readonly #collations: CollationCheck

  /**
   * @throws DeclarationError if an initialized DataSource does not match the entity.
   */
  constructor(
    private readonly database: Database,
    private readonly model: ResourceModel,
  ) {
    const { dataSource, dialect } = database
    this.table = tableNameOf(model, dialect, dataSource)
    this.#checked = { dataSource, model, dialect, table: this.table }
    this.#collations = new CollationCheck(model, this.table, database, () => relativesOf(dataSource, model))
    if (dataSource.isInitialized) this.#checkEntity()
  }

  /**
   * Runs the checks that are still pending.
   *
   * @throws TypeError if the DataSource is not initialized.
   * @throws DeclarationError if it does not match the entity.
   */
  async run(on: Executor, options: RunOptions): Promise<void> {
    if (this.#isEntityPending) this.#checkEntity()
    if (this.#collations.isPending) await this.#collations.run(on, options)
    this.isPending = this.#collations.isPending
  }

  #checkEntity(): void {
    const { name } = this.model.entity
    if (!this.#checked.dataSource.isInitialized) throw new TypeError(`${name}: ${NOT_INITIALIZED}`)
    const { problems } = this.findings()
    if (problems.length > 0) throw new DeclarationError(name, inEntity(this.model.entity, problems))
    this.#isEntityPending = false
  }

  findings(): StartUpFindings {
    const { dataSource, model, dialect, table } = this.#checked
    if (!dataSource.isInitialized)
      return { problems: [problem('notInitialized', NOT_INITIALIZED)], warnings: [] }
    return together([
      { problems: entityProblems(this.#checked), warnings: changedHeirs(dataSource) },
      synchronizeFindings(this.#checked),
      { problems: isolationProblems(dataSource), warnings: [] },
      unfilledColumns(this.#checked),
      relationNotes(this.#checked),
      unmanagedNotes(this.#checked),
      {
        problems: [
          ...referenceProblems(dataSource, model),
          ...foreignKeyProblems(model, dialect),
          ...familyProblems(dataSource, model),
          ...refusedKeys(tableOf(model, dialect, table), dialect),
        ],
        warnings: [],
      },
      managerFindings(this.#checked),
      ...dataSource.subscribers.map((subscriber) => subscriberFindings(subscriber, model)),
    ])
  }

  /** Returns the findings that a server checks before it starts. */
  startUp(): StartUpFindings | Promise<StartUpFindings> {
    const findings = this.findings()
    if (!this.#checked.dataSource.isInitialized) return findings
    const asked = [
      withoutForeignKey(this.#checked),
      withoutZone(this.#checked),
      deletionsWithoutMillis(this.#checked),
      this.#inexact(),
    ]
    const all = asked.filter((one) => one !== undefined)
    return Promise.all(all).then((found) => together([findings, ...found]))
  }

  /**
   * Returns the columns that compare differently. If the database does not respond, the first call checks
   * again.
   */
  async #inexact(): Promise<StartUpFindings> {
    const signal = AbortSignal.timeout(LONGEST_ASK_MS)
    const problems = await this.#collations.problems({ signal }).catch(() => [])
    const found = await Promise.all([
      roundedFloats(this.#checked, this.database),
      distributedTable(this.#checked, this.database, signal).catch(() => NOTHING),
    ])
    return together([{ problems, warnings: [] }, ...found])
  }
}

const NOT_INITIALIZED = 'its DataSource is not initialized: await dataSource.initialize() first'

function familyProblems(dataSource: DataSource, model: ResourceModel): readonly Problem[] {
  const member = membersOf(dataSource).get(model)
  return member === undefined ? [] : deletionProblems(member)
}

function isolationProblems(dataSource: DataSource): readonly Problem[] {
  const why = isolationProblem(dataSource)
  return why === undefined ? [] : [problem('dataSource', why)]
}
