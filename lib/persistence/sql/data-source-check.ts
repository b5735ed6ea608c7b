import type { DataSource, EntitySubscriberInterface } from 'typeorm'
import { DeclarationError, inEntity, problem, type Problem, propertyProblem } from '../../errors.js'
import { kindOfColumn } from '../../resource/kinds/declared-kind.js'
import { kindOf } from '../../resource/kinds/kinds.js'
import { isOwning } from '../../resource/relations/relation.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { HOOK_EVENTS, neverCalled } from '../../resource/typeorm/declared-hooks.js'
import { changedHeirs } from '../typeorm/changed-heirs.js'
import { listensTo } from '../typeorm/subscribers.js'
import { foreignKeyProblems } from '../schema/foreign-keys.js'
import { refusedKeys } from '../schema/index-problems.js'
import { CollationCheck } from '../schema/collation-check.js'
import { deletionProblems } from '../deletion/rules/family.js'
import { membersOf, relativesOf } from '../deletion/sql/members-of.js'
import type { Dialect } from '../dialects/dialect.js'
import type { StartUpFindings } from '../contract/repository.js'
import type { TableName } from '../dialects/catalog/table-definition.js'
import { tableNameOf } from '../schema/table-name-of.js'
import { referenceProblems } from '../references/reference-problems.js'
import { tableOf } from '../schema/table-of.js'
import { quoteTable } from '../dialects/quote-table.js'
import { isProcessInUtc, processZone } from '../dialects/values/process-zone.js'
import type { Database, Executor, RunOptions } from '../engines/executor/executor.js'
import { isolationProblem } from '../engines/declared-isolation.js'
import { SqliteDriver } from '../engines/sqlite/driver.js'

/** What a subscriber may be told of an entity. */
export const ENTITY_EVENTS = [
  ...['afterLoad', 'beforeInsert', 'afterInsert', 'beforeUpdate', 'afterUpdate', 'beforeRemove'],
  ...['afterRemove', 'beforeSoftRemove', 'afterSoftRemove', 'beforeRecover', 'afterRecover'],
] as const
/** What it may be told of TypeORM's own queries and transactions. */
export const QUERY_EVENTS = [
  ...['beforeQuery', 'afterQuery', 'beforeTransactionStart', 'afterTransactionStart'],
  ...['beforeTransactionCommit', 'afterTransactionCommit'],
  ...['beforeTransactionRollback', 'afterTransactionRollback'],
] as const

/**
 * Makes sure, once, that a DataSource knows a repository's entity as its model does, that nothing of TypeORM
 * on it waits for what the repository never tells, and that its database tells texts apart.
 */
export class DataSourceCheck {
  /** Where the rows are. */
  readonly table: TableName
  readonly #dataSource: DataSource
  readonly #dialect: Dialect
  /** Whether `run` still has to be awaited. */
  isPending = true
  #isEntityPending = true
  readonly #collations: CollationCheck

  /** @throws DeclarationError for an initialized DataSource that does not fit the entity. */
  constructor(
    database: Database,
    private readonly model: ResourceModel,
  ) {
    const { dataSource, dialect } = database
    this.#dataSource = dataSource
    this.#dialect = dialect
    this.table = tableNameOf(model, dialect, dataSource)
    this.#collations = new CollationCheck(model, this.table, database, () => relativesOf(dataSource, model))
    if (dataSource.isInitialized) this.#checkEntity()
  }

  /**
   * @throws TypeError for a DataSource that is not initialized, DeclarationError for one that does not fit
   * the entity.
   */
  async run(on: Executor, options: RunOptions): Promise<void> {
    if (this.#isEntityPending) this.#checkEntity()
    if (this.#collations.isPending) await this.#collations.run(on, options)
    this.isPending = this.#collations.isPending
  }

  #checkEntity(): void {
    const { name } = this.model.entity
    if (!this.#dataSource.isInitialized) throw new TypeError(`${name}: ${NOT_INITIALIZED}`)
    const { problems } = this.findings()
    if (problems.length > 0) throw new DeclarationError(name, inEntity(this.model.entity, problems))
    this.#isEntityPending = false
  }

  findings(): StartUpFindings {
    if (!this.#dataSource.isInitialized)
      return { problems: [problem('notInitialized', NOT_INITIALIZED)], warnings: [] }
    const others = [
      ...this.#managed(),
      ...this.#dataSource.subscribers.map((subscriber) => this.#subscriber(subscriber)),
    ]
    return {
      problems: [
        ...this.#entity(),
        ...this.#bytes(),
        ...this.#isolation(),
        ...referenceProblems(this.#dataSource, this.model),
        ...foreignKeyProblems(this.model, this.#dialect),
        ...this.#deletion(),
        ...refusedKeys(tableOf(this.model, this.#dialect, this.table), this.#dialect),
        ...others.flatMap(({ problems }) => problems),
      ],
      warnings: [
        ...changedHeirs(this.#dataSource),
        ...this.#synchronize(),
        ...this.#required(),
        ...others.flatMap(({ warnings }) => warnings),
      ],
    }
  }

  /** What a server asks for before it starts. */
  startUp(): StartUpFindings | Promise<StartUpFindings> {
    const findings = this.findings()
    if (!this.#dataSource.isInitialized) return findings
    const asked = [this.#withoutForeignKey(), this.#withoutZone()].filter((one) => one !== undefined)
    if (asked.length === 0) return findings
    return Promise.all(asked).then((found) => {
      const all = [findings, ...found]
      return {
        problems: all.flatMap(({ problems }) => problems),
        warnings: all.flatMap(({ warnings }) => warnings),
      }
    })
  }

  #withoutForeignKey(): Promise<StartUpFindings> | undefined {
    const asked = this.#dialect.columnsWithoutForeignKey
    const references = this.model.relations.filter(isOwning)
    if (asked === undefined || references.length === 0) return undefined
    const { name } = this.table
    return this.#columns(asked, [name, name]).then((columns) => ({
      problems: [],
      warnings: references
        .filter(({ reference }) => columns.has(reference.column))
        .map(
          ({ property }) =>
            `${property} of ${this.model.entity.name} has no foreign key, because ${this.#dialect.label} adds none to a table that is there: only repositories keep it inside of its tenant; make the table anew to have one`,
        ),
    }))
  }

  /** Its type is asked of the database: TypeORM and createTables() make columns of two types of one Date. */
  #withoutZone(): Promise<StartUpFindings> | undefined {
    const asked = this.#dialect.timesWithoutZone
    const times = this.model.fields.filter((field) => kindOf(field).declared.fits(Date, false))
    if (asked === undefined || times.length === 0 || isProcessInUtc()) return undefined
    return this.#columns(asked, [quoteTable(this.table, this.#dialect)]).then((columns) => {
      const found = times.filter(({ column }) => columns.has(column)).map(({ property }) => property)
      if (found.length === 0) return NOTHING
      const what = `times without a zone are in ${found.join(', ')} of ${this.model.entity.name}: repositories read and write them in UTC, and TypeORM's own manager in ${processZone()}, the zone of this process`
      return this.#managedOtherwise(what, 'start the process with TZ=UTC, or make the columns timestamptz')
    })
  }

  async #columns(text: string, values: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#dataSource.query<{ readonly name: string }[]>(text, [...values])
    return new Set(rows.map(({ name }) => name))
  }

  /** Rows of another application are not read and written in two ways. */
  #managedOtherwise(what: string, advice: string): StartUpFindings {
    return this.model.existing
      ? { problems: [problem('dataSource', what, advice)], warnings: [] }
      : warning(`${what}: ${advice}`)
  }

  #entity(): Problem[] {
    const { entity } = this.model
    const found = this.#dataSource.entityMetadatas.filter(({ target }) => target === entity)
    if (found.length === 1) return []
    if (found.length > 1)
      return [
        problem(
          'dataSource',
          'it is in its DataSource twice, as a class and as an EntitySchema',
          'keep the class',
        ),
      ]
    const isCopied = this.#dataSource.entityMetadatas.some(({ targetName }) => targetName === entity.name)
    return [
      isCopied
        ? problem(
            'dataSource',
            `another class of the name ${entity.name} is in its DataSource`,
            'its module is loaded twice, so import it in one way',
          )
        : problem(
            'dataSource',
            'it is not in its DataSource',
            `write entities: [${entity.name}] there, beside the others`,
          ),
    ]
  }

  /** Where TypeORM makes the table. */
  get #isSynchronized(): boolean {
    const { entity } = this.model
    const isOurs = this.#dataSource.driver instanceof SqliteDriver
    if (isOurs || this.#dataSource.options.synchronize !== true || !this.#dataSource.hasMetadata(entity))
      return false
    return this.#dataSource.getMetadata(entity).synchronize
  }

  /**
   * TypeORM is told that a Uint8Array is a text, because no type of bytes is one that it takes on every
   * database.
   */
  #bytes(): Problem[] {
    if (!this.#isSynchronized) return []
    const { driver } = this.#dataSource
    const metadata = this.#dataSource.getMetadata(this.model.entity)
    const { columns } = tableOf(this.model, this.#dialect, this.table)
    return this.model.fields.flatMap((field) => {
      const { kind, property, column: name } = field
      const column = metadata.findColumnWithPropertyName(property)
      if (kindOf(field).declared.isToldAsText !== true || column === undefined) return []
      const made = driver.normalizeType(column)
      if (kindOfColumn(made, undefined) === kind) return []
      const needed = columns.find((one) => one.name === name)?.type
      return [
        propertyProblem(
          'dataSource',
          property,
          `${property} holds ${kind}, and synchronize makes its column ${made}, which cannot`,
          `write @Column('${needed}'), or leave synchronize out`,
        ),
      ]
    })
  }

  #deletion(): Problem[] {
    const member = membersOf(this.#dataSource).get(this.model)
    return member === undefined ? [] : deletionProblems(member)
  }

  #isolation(): Problem[] {
    const why = isolationProblem(this.#dataSource)
    return why === undefined ? [] : [problem('dataSource', why)]
  }

  #synchronize(): string[] {
    if (!this.#isSynchronized) return []
    const { entity } = this.model
    return [
      `synchronize makes the table of ${entity.name} by TypeORM's rules, in which unique values are not per tenant and texts are compared loosely: leave it out, and use createTables() or a migration`,
    ]
  }

  #required(): string[] {
    const { columns } = this.model.internal()
    const { name } = this.model.entity
    return columns
      .filter(({ nullable, hasDefault }) => !nullable && !hasDefault)
      .map(
        ({ property }) =>
          `${property} of ${name} is @Internal(), and its column takes no NULL and has no default: each create of the repository would fail; give the column a default, or make it nullable`,
      )
  }

  #managed(): StartUpFindings[] {
    const { fields, entity } = this.model
    const options = { ...this.#dataSource.options }
    const found = fields.flatMap(({ kind }) => this.#dialect.kinds[kind].managed?.(options) ?? [])
    const byText = new Map(found.map((one) => [one.what, one.advice]))
    return [...byText].map(([what, advice]) =>
      this.#managedOtherwise(`TypeORM's own manager ${what}`, `${advice} (${entity.name})`),
    )
  }

  #subscriber(subscriber: EntitySubscriberInterface): StartUpFindings {
    const name = subscriber.constructor.name
    const { entity } = this.model
    const hears = (events: readonly string[]) => events.some((event) => event in subscriber)
    const target = subscriber.listenTo?.() as unknown
    const isForAll = target === undefined || target === null || target === '' || target === Object
    if (isForAll)
      return hears([...ENTITY_EVENTS, ...QUERY_EVENTS])
        ? warning(
            `the subscriber ${name} is told nothing of what repositories read and write: give it a listenTo() of one entity`,
          )
        : NOTHING
    if (!listensTo(target, entity)) return NOTHING
    const softDeletable = this.model.deleteTime !== undefined
    const never = HOOK_EVENTS.filter(
      (event) => `${event[0]?.toLowerCase()}${event.slice(1)}` in subscriber,
    ).flatMap((event) => {
      const why = neverCalled(event, softDeletable)
      return why === undefined
        ? []
        : [problem('dataSource', `${event} of the subscriber ${name} is never called`, why)]
    })
    if (hears(ENTITY_EVENTS)) return { problems: never, warnings: [] }
    return hears(QUERY_EVENTS)
      ? warning(
          `the subscriber ${name} is told of no query and no transaction of the repository of ${entity.name}`,
        )
      : NOTHING
  }
}

const NOT_INITIALIZED = 'its DataSource is not initialized: await dataSource.initialize() first'

const NOTHING: StartUpFindings = { problems: [], warnings: [] }

const warning = (text: string): StartUpFindings => ({ problems: [], warnings: [text] })
