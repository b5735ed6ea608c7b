import type { Alteration, ChangeFile, Renamed } from '../dialects/catalog/change-sql.js'
import type { LiveColumn, LiveTable } from '../dialects/catalog/live-table.js'
import type { ColumnDefinition, TableDefinition } from '../dialects/catalog/table-definition.js'
import { quoteTable } from '../dialects/quote-table.js'
import { SEARCH_VECTOR } from '../dialects/search-predicate.js'
import { freeName, indexName } from '../schema/index-name.js'
import { tableText } from '../schema/table-name-of.js'
import { nullRows, shownDifference } from './shown-difference.js'
import type { ComparedDialect } from './expected-table.js'
import type { Difference } from './table-differences.js'
import { columnLeft, emptyPlan, indexLeft, type TablePlan } from './table-plan.js'
import { vectorRemoval } from './vector-removal.js'

const NULL_UNTIL = 'accepts NULL, which lets older images omit it, and is NOT NULL after the contract'

const OLD_IMAGES = 'no running image uses it'

/** Plans the changes of one existing table. */
export function planTable(
  definition: TableDefinition,
  live: LiveTable,
  differences: readonly Difference[],
  dialect: ComparedDialect,
): TablePlan {
  const plan = emptyPlan()
  const planner = new TablePlanner(definition, live, dialect, plan)
  for (const difference of differences) planner.add(difference)
  planner.end()
  return plan
}

class TablePlanner {
  readonly #added: Alteration[] = []
  readonly #addedColumns: ColumnDefinition[] = []
  readonly #defaults: Alteration[] = []
  readonly #spare: Alteration[] = []
  readonly #indexNames: Set<string>

  constructor(
    private readonly table: TableDefinition,
    private readonly live: LiveTable,
    private readonly dialect: ComparedDialect,
    private readonly plan: TablePlan,
  ) {
    this.#indexNames = new Set(live.indexes.map(({ name }) => name))
  }

  get #sql() {
    return this.dialect.catalog.live.changes
  }

  add(difference: Difference): void {
    const { plan, table } = this
    const shown = shownDifference(difference, table, this.dialect)
    const left = () => shown !== undefined && plan.left.push(shown)
    switch (difference.kind) {
      case 'noTable':
      case 'fault':
      case 'generated':
      case 'unminted':
      case 'primaryKey':
      case 'uncheckedCheck':
        if (shown !== undefined) plan.byHand.push(shown)
        return
      case 'addColumn':
        return this.#addColumn(difference.column)
      case 'type':
      case 'collation':
        left()
        plan.settle.push(...this.#sql.retype({ table, ...difference }))
        return
      case 'nullable':
        left()
        return this.#changeNullable(difference.column, difference.live)
      case 'default': {
        const { column, live } = difference
        // A default would overwrite the values that an older image writes to the old column.
        const isCopied = this.live.columns.some(({ name }) => name === column.renamedFrom)
        if (isCopied) left()
        const value = column.fallback ?? column.initial
        if (value !== undefined)
          (isCopied ? this.#spare : this.#defaults).push(this.#defaultChange(live, value))
        return
      }
      case 'spareDefault':
        left()
        this.#spare.push(this.#defaultChange(difference.live, undefined))
        return
      case 'extraColumn':
        left()
        return this.#dropColumn(difference.live, difference.to)
      case 'addIndex': {
        const name = freeName(difference.index.name, this.#indexNames)
        this.#indexNames.add(name)
        const files = this.#sql.addIndex(table, { ...difference.index, name })
        const { columns, method } = difference.index
        const waits =
          method === undefined &&
          this.live.columns.some(
            (column) => columns.includes(column.name) && !this.#sql.takesIndex(column.type),
          )
        if (waits) left()
        ;(waits ? plan.relink : plan.index).push(...files)
        return
      }
      case 'extraIndex': {
        const { index } = difference
        const isPlain = index.columns.every((column) => this.live.columns.some(({ name }) => name === column))
        if (index.method !== undefined || (index.extras ?? []).length > 0 || !isPlain) {
          plan.byHand.push(indexLeft(table, index.name, 'not an index of plain columns', 'drop it manually'))
          return
        }
        plan.left.push(
          shown ?? indexLeft(table, index.name, 'replaced', 'once no older image runs, ', { next: 'drop' }),
        )
        plan.unindex.push(...this.#sql.dropIndex(table, index))
        return
      }
      case 'addForeignKey': {
        const files = this.#sql.addForeignKey(table, difference.key)
        if (this.#sql.addsForeignKeysInUse) plan.link.push(...files)
        else {
          const text = `${tableText(table)} lacks the foreign key ${difference.key.name}, and adding it locks the table`
          plan.left.push(shown ?? { kind: 'addForeignKey', table: tableText(table), text })
          plan.relink.push(...files)
        }
        return
      }
      case 'extraForeignKey':
        left()
        plan.unlink.push(...this.#sql.dropForeignKey(table, difference.key))
        return
      case 'uncheckedForeignKey':
        plan.link.push(this.#validated(difference.key.name))
        return
    }
  }

  /** Plans the changes that several differences have in common. */
  end(): void {
    const { plan, table } = this
    const {
      ddl: { migration },
    } = this.dialect
    const name = table.name
    if (this.#added.length > 0)
      plan.alter.unshift(
        ...this.#sql.alter(table, `add_to_${name}`, this.#added).map((file) => ({
          ...file,
          comments: migration?.lintComments({ ...table, columns: this.#addedColumns }) ?? '',
        })),
      )
    if (this.#defaults.length > 0)
      plan.alter.push(...this.#sql.alter(table, `default_${name}`, this.#defaults))
    if (this.#spare.length > 0)
      plan.settle.push(...this.#sql.alter(table, `end_default_${name}`, this.#spare))
  }

  #addColumn(column: ColumnDefinition): void {
    const { name, type, nullable } = column
    const drop = `DROP COLUMN ${this.dialect.text.quote(name)}`
    const add = (one: ColumnDefinition) => {
      this.#addedColumns.push(one)
      this.#added.push({ up: `ADD COLUMN ${this.#sql.columnText(one)}`, down: drop })
    }
    const old = this.live.columns.find((one) => one.name === column.renamedFrom)
    if (old !== undefined) {
      add({ ...column, nullable: true, fallback: undefined, initial: undefined })
      if (!nullable)
        this.plan.left.push(columnLeft(this.table, 'addColumn', name, 'accepts NULL until the contract'))
      this.#copy(column, old)
      return
    }
    const value = column.fallback ?? column.initial ?? (nullable ? undefined : this.#fillerOf(column))
    if (!nullable) this.#leaveRest(column, value)
    if (value === undefined) return add({ ...column, nullable: true })
    if (this.#sql.takesDefault(type)) return add({ ...column, fallback: value })
    add({ ...column, nullable: true, fallback: undefined, initial: undefined })
    this.#defaults.push(this.#defaultChange({ name, type, fallback: undefined }, value))
    if (!nullable) this.#fill(column, value)
  }

  /**
   * Leaves the rest of a new required column to the contract phase. Until then older images insert rows
   * without the column.
   */
  #leaveRest(column: ColumnDefinition, value: string | undefined): void {
    const { name } = column
    if (value === undefined)
      this.plan.left.push(columnLeft(this.table, 'addColumn', name, NULL_UNTIL, { next: 'backfill' }))
    else if (column.fallback === undefined && value === column.filler)
      this.plan.left.push(
        columnLeft(
          this.table,
          'addColumn',
          name,
          `has the default ${value}, which lets older images omit it, until the contract`,
        ),
      )
  }

  /**
   * Returns the value for existing rows, or undefined if the column must be unique or refers to another
   * table: one value for all rows would violate the index or the foreign key.
   */
  #fillerOf({ name, filler }: ColumnDefinition): string | undefined {
    const { indexes, foreignKeys } = this.table
    const isUnique = indexes.some(({ unique, columns }) => unique && columns.includes(name))
    return isUnique || foreignKeys.some(({ columns }) => columns.includes(name)) ? undefined : filler
  }

  #fill({ name }: ColumnDefinition, value: string, to = this.plan.copy): void {
    const column = this.dialect.text.quote(name)
    to.push(...this.#sql.backfill(this.table, `${column} = ${value}`, `${column} IS NULL`))
  }

  #copy(column: ColumnDefinition, old: LiveColumn): void {
    const { plan, table } = this
    const columns = { from: old.name, to: column.name }
    if (column.catalogType !== old.type) {
      plan.byHand.push(
        columnLeft(this.table, 'addColumn', column.name, `is ${old.name} with another type`, {
          detail: `keep the type ${old.type} until it is renamed`,
        }),
      )
      return
    }
    const [from, to] = [this.dialect.text.quote(old.name), this.dialect.text.quote(column.name)]
    plan.copy.push(
      ...this.#sql.mirror(table, this.#mirrorName(columns), columns),
      ...this.#sql.backfill(table, `${to} = ${from}`, `${to} IS NULL AND ${from} IS NOT NULL`),
    )
  }

  #mirrorName({ to }: Renamed): string {
    return indexName(this.table.name, [to], 'mirror').slice(0, 56)
  }

  #changeNullable(column: ColumnDefinition, live: LiveColumn): void {
    const { plan, table } = this
    const change = { table, column, live }
    if (column.nullable) {
      plan.settle.push(...this.#sql.takeNull(change))
      return
    }
    const unfilled = nullRows(table, column, this.dialect)
    if (unfilled !== undefined)
      plan.fill.push({ table: tableText(table), column: column.name, fill: unfilled })
    if (column.initial !== undefined) this.#fill(column, column.initial, plan.settle)
    plan.settle.push(...this.#sql.require(change, indexName(table.name, [column.name], 'not_null')))
  }

  #defaultChange(
    { name, type, fallback }: Pick<LiveColumn, 'name' | 'type' | 'fallback'>,
    value?: string,
  ): Alteration {
    const set = (one: string | undefined) =>
      `ALTER COLUMN ${this.dialect.text.quote(name)} ${one === undefined ? 'DROP DEFAULT' : `SET DEFAULT ${this.#sql.defaultOf(type, one)}`}`
    return { up: set(value), down: set(fallback) }
  }

  #dropColumn(live: LiveColumn, to: ColumnDefinition | undefined): void {
    const { plan, table } = this
    const vector = live.name === SEARCH_VECTOR ? vectorRemoval(table, this.live) : undefined
    if (vector !== undefined) {
      plan.drop.push(vector)
      return
    }
    const name = tableText(table)
    this.#letOut(live)
    const column = this.dialect.text.quote(live.name)
    const copied =
      to === undefined
        ? []
        : [`UPDATE ${quoteTable(table, this.dialect)} SET ${column} = ${this.dialect.text.quote(to.name)}`]
    if (to !== undefined) {
      const columns = { from: live.name, to: to.name }
      const mirror = this.#mirrorName(columns)
      const realign = `${copied.join('')}\nWHERE ${this.#sql.differ(columns, to.isText)}`
      if (this.live.triggers.some((trigger) => trigger === mirror || trigger.startsWith(`${mirror}_`)))
        plan.drop.push(...this.#sql.unmirror(table, mirror, columns, realign))
    }
    const restored = this.#restored(live)
    const isCopiedFirst =
      to !== undefined && !live.nullable && live.generated === undefined && restored.fallback === undefined
    const required = isCopiedFirst
      ? this.#sql.takeNull({ table, column: { ...to, name: live.name }, live }).flatMap(({ down }) => down)
      : []
    const added = isCopiedFirst ? { ...restored, nullable: true } : restored
    const [dropped] = this.#sql.alter(table, `drop_${table.name}_${live.name}`, [
      ...this.#droppedChecks(live),
      { up: `DROP COLUMN ${column}`, down: `ADD COLUMN ${this.#sql.liveText(added)}` },
    ])
    if (dropped === undefined) return
    const isSearched = this.live.columns.some(({ name: one }) => one === SEARCH_VECTOR)
    plan.drop.push({
      ...dropped,
      up: [
        ...(isSearched ? this.#sql.dropReader(table, { generated: SEARCH_VECTOR, reads: live.name }) : []),
        ...dropped.up,
      ],
      down: [...dropped.down, ...copied, ...required],
      allow: {
        rules: ['ban-drop-column'],
        reason: `${OLD_IMAGES}, and the values of ${name}.${live.name} are no longer needed`,
      },
    })
  }

  /**
   * Drops the checks that read a column, because MySQL does not drop such a column. The down migration adds
   * them again.
   */
  #droppedChecks({ name: column }: LiveColumn): readonly Alteration[] {
    return this.live.checks
      .filter(({ columns }) => columns.includes(column))
      .map(({ name, definition }) => {
        const constraint = `CONSTRAINT ${this.dialect.text.quote(name)}`
        return { up: `DROP ${constraint}`, down: `ADD ${constraint} ${definition}` }
      })
  }

  /** Makes a column optional, because images that no longer know it insert rows without it. */
  #letOut(live: LiveColumn): void {
    if (live.nullable || live.fallback !== undefined || live.generated !== undefined) return
    const value = this.#valueFor(live)
    if (value === undefined)
      this.plan.byHand.push(
        columnLeft(this.table, 'extraColumn', live.name, 'is required but missing from the model', {
          detail: 'an image that omits it cannot write until the contract drops it',
        }),
      )
    else this.#defaults.push(this.#defaultChange(live, value))
  }

  #valueFor({ name, type }: LiveColumn): string | undefined {
    if (this.live.foreignKeys.some(({ columns }) => columns.includes(name))) return undefined
    const isUnique = this.live.indexes.some(({ unique, columns }) => unique && columns.includes(name))
    return isUnique ? this.#sql.ownValue(type) : this.#sql.emptyValue(type)
  }

  /** Returns the column for the down migration. A required column needs a value for existing rows. */
  #restored(live: LiveColumn): LiveColumn {
    const isFilled = live.nullable || live.fallback !== undefined || live.generated !== undefined
    return isFilled ? live : { ...live, fallback: this.#valueFor(live) }
  }

  #validated(name: string): ChangeFile {
    const { dialect, table } = this
    const [file] = this.#sql.alter(table, `validate_${name}`, [
      { up: `VALIDATE CONSTRAINT ${dialect.text.quote(name)}`, down: '' },
    ])
    return { what: `validate_${name}`, up: file?.up ?? [], down: [] }
  }
}
