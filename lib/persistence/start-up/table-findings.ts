import { propertyProblem } from '../../errors.js'
import type { Field, Role } from '../../resource/fields/field.js'
import { double, float } from '../../resource/kinds/fractions.js'
import type { ResourceModel } from '../../resource/resource-model.js'
import { hasNoValue } from '../../resource/values/conversions.js'
import { isOwning } from '../../resource/relations/relation.js'
import type { StartUpFindings } from '../contract/repository.js'
import { listensTo } from '../typeorm/subscribers.js'
import { undeletedWith } from '../deletion/rules/related-questions.js'
import { membersOf } from '../deletion/sql/members-of.js'
import { tableNameOf } from '../schema/table-name-of.js'
import type { Database } from '../engines/executor/executor.js'
import { named } from '../engines/executor/named.js'
import { type CheckedEntity, namesIn, NOTHING, warning } from './findings.js'

/**
 * Reports references whose columns have no foreign key. Returns undefined if a table always has its foreign
 * keys.
 */
export function withoutForeignKey(checked: CheckedEntity): Promise<StartUpFindings> | undefined {
  const { model, dialect, table } = checked
  const asked = dialect.catalog.columnsWithoutForeignKey
  const references = model.relations.filter(isOwning)
  if (asked === undefined || references.length === 0) return undefined
  return namesIn(checked, asked, [table.name, table.name]).then((columns) => ({
    problems: [],
    warnings: references
      .filter(({ reference }) => columns.has(reference.column))
      .map(
        ({ property }) =>
          `${property} of ${model.entity.name} has no foreign key, because ${dialect.label} cannot add one to an existing table: only repositories keep it within its tenant; recreate the table to have one`,
      ),
  }))
}

/** Reports NOT NULL columns that no client, default, hook or repository sets. */
export function unfilledColumns({ dataSource, model }: CheckedEntity): StartUpFindings {
  const { entity, listeners } = model
  const isHeard =
    listeners.some(({ event }) => event === 'BeforeInsert') ||
    dataSource.subscribers.some((one) => 'beforeInsert' in one && listensTo(one.listenTo?.(), entity))
  const left = model.internal().columns.filter(({ nullable, hasDefault }) => !nullable && !hasDefault)
  const own = model.entityFields.filter(
    (field) =>
      model.message !== undefined &&
      SET_BY_CODE.has(field.role) &&
      !(field.exposed && field.role === 'plain') &&
      hasNoValue(field),
  )
  const unfilled = [...left, ...own].map(({ property }) =>
    propertyProblem(
      'column',
      property,
      `${property}: its column is NOT NULL, but nothing fills it in a Create`,
      'give the column a default, make it nullable, set it in @BeforeInsert(), or override create()',
    ),
  )
  const warnings = left.map(
    ({ property }) =>
      `${property} of ${entity.name} is not managed by Ashlar, and its column is NOT NULL without a default: every create of the repository would fail; give the column a default, or make it nullable`,
  )
  return { problems: [], warnings, unfilled: isHeard ? [] : unfilled }
}

const SET_BY_CODE: ReadonlySet<Role> = new Set<Role>(['plain', 'outputOnly'])

/** Reports delete times without milliseconds, because an undelete would find the rows to restore by them. */
export function deletionsWithoutMillis({
  dataSource,
  model,
  dialect,
}: CheckedEntity): Promise<StartUpFindings> | undefined {
  const root = membersOf(dataSource).get(model)
  const asked = dialect.catalog.timesWithoutMillis
  if (asked === undefined || root?.undeletedBy !== 'time') return undefined
  const restored = undeletedWith(root)
  if (restored.length === 0) return undefined
  const found = [root, ...restored].map(async ({ model: { entity, deleteTime }, model: of }) => {
    const { text, values } = asked(tableNameOf(of, dialect, dataSource))
    const rows = await dataSource.query<{ readonly name: string }[]>(text, [...values])
    if (deleteTime === undefined || !rows.some(({ name }) => name === deleteTime.column)) return []
    return propertyProblem(
      'deletion',
      deleteTime.property,
      `Undelete of ${model.entity.name} restores rows with the same deletion time, but ${deleteTime.property} of ${entity.name} stores no milliseconds`,
      'use a column that stores milliseconds, or remove Undelete from the service',
    )
  })
  return Promise.all(found).then((all) => ({ problems: [], warnings: [], unrestorable: all.flat() }))
}

/** Reports fields whose floats the database rounds before it stores them. */
export async function roundedFloats(
  { model, dialect }: CheckedEntity,
  database: Database,
): Promise<StartUpFindings> {
  const text = dialect.catalog.roundedFloats
  const [field] = model.fields.filter(({ kind }) => kind === float.name || kind === double.name)
  if (text === undefined || field === undefined || database.isDistributed === false) return NOTHING
  const read = database.run(named(text), [], { signal: AbortSignal.timeout(LONGEST_ASK_MS) })
  return read.then(
    ({ rows: [row] }) => (row === undefined ? NOTHING : warning(rounded(model, field, String(row[0])))),
    () => NOTHING,
  )
}

/** The maximum time in milliseconds that startup waits for an unresponsive database. */
export const LONGEST_ASK_MS = 5_000

const rounded = ({ entity }: ResourceModel, { property }: Field, digits: string): string =>
  `${entity.name}.${property}: extra_float_digits is ${digits}, so the coordinator rounds floats before it stores them: run ALTER DATABASE … SET extra_float_digits = 1`
