import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { entityClasses } from '../from-entities/entity-classes.js'
import {
  checkNames,
  type DecoratedSources,
  type FromEntities,
  type ResourceChoices,
  type WrittenFiles,
  writtenResources,
  type Additions,
} from '../from-entities/entity-resources.js'
import type { LoadedEntity } from '../from-entities/compiled-classes.js'
import { importExtension } from '../from-entities/marked-files.js'
import { DEFAULT_DIALECT } from '../../lib/migrations/files/dialect-name.js'
import { isTenantName } from '../../lib/resource/typeorm/tenant-names.js'
import { Failure } from '../errors/failure.js'
import { dialectIn } from '../migrate/migrator-of.js'
import { connectedTo } from '../outbox/with-outbox.js'
import { snakeOf } from '../generate/words.js'
import { readCatalog } from './database-catalog.js'
import { chosenTables, type LeftOutTable, type Tables } from './chosen-tables.js'
import { classNames, propertyNames } from './class-names.js'
import { classSource } from './class-source.js'
import { declaredClasses } from './declared-class.js'
import { tableClass, type TableClass } from './table-class.js'
import { columnNotes, type WrittenMigration, writeMigration } from './first-migration.js'

/** The parsed flags. */
export interface FromDatabaseFlags extends Omit<ResourceChoices, 'tenant' | 'only'> {
  readonly url: string
  readonly schemas: readonly string[]
  readonly tables: readonly string[]
  readonly tenantColumn: string | undefined
}

export interface FromDatabase extends FromEntities {
  /** The tables and views without a class. */
  readonly leftOut: readonly LeftOutTable[]
  readonly migration: WrittenMigration | undefined
}

const ENTITIES = 'src/entities'

/**
 * Writes the entity classes, .proto files, registration and first migration for a database.
 * @throws {Failure}
 */
export async function fromDatabase(flags: FromDatabaseFlags): Promise<FromDatabase> {
  const folder = resolve(flags.folder)
  if (((await dialectIn(flags.url)) ?? DEFAULT_DIALECT) !== DEFAULT_DIALECT)
    throw new Failure('input', 'the catalog is read from PostgreSQL: name a database with postgres://')
  const catalog = await connectedTo(
    { url: flags.url },
    { declared: { entities: [] }, isFor: 'catalog' },
    readCatalog,
  )
  const tables = chosenTables(catalog, flags.schemas, flags.tables)
  if (tables.chosen.length === 0)
    throw new Failure('input', 'no table can have a class: name another database, or another --schema')
  checkTenant(flags, tables)
  const names = classNames(tables.usable)
  // Relations may refer to classes of this run and of earlier runs.
  const kept = new Map(
    [...names].filter(
      ([id, name]) => tables.chosen.some((one) => one.id === id) || existsSync(join(folder, sourceOf(name))),
    ),
  )
  const classes = tables.usable
    .filter(({ id }) => kept.has(id))
    .map((table) => tableClass(table, { catalog, names: kept, tenant: flags.tenantColumn }))
  const loaded = loadedEntities(classes)
  const choices = choicesOf(flags, tables, names)
  checkNames(choices, loaded)
  const made = await writtenResources(choices, {
    ...{ entities: loaded, unexported: [], resources: new Set<string>(), usesPostgres: true },
    noTenant: () => noTenantText(flags.tenantColumn ?? ''),
    decorate: (written, additions) => writeClasses(folder, classes, choices.only, written, additions),
  })
  const columns = await columnNotes(folder, tables.chosen)
  const migration = await writeMigration(folder, catalog, tables.chosen, tables.usable)
  return {
    ...made,
    written: [
      ...made.written,
      ...(migration?.files ?? []).map((path) => ({ path: relative(folder, path), state: 'new' as const })),
    ],
    notes: [...made.notes, ...columns, ...(migration?.notes ?? [])],
    ...{ leftOut: tables.leftOut, migration },
  }
}

const choicesOf = (
  flags: FromDatabaseFlags,
  { chosen }: Tables,
  names: ReadonlyMap<string, string>,
): ResourceChoices => ({
  ...flags,
  tenant:
    flags.tenantColumn === undefined
      ? undefined
      : propertyNames([flags.tenantColumn]).get(flags.tenantColumn),
  only: chosen.map(({ id }) => names.get(id) as string),
})

const noTenantText = (column: string): string =>
  `its table has no column ${column}: name the class in --shared if all tenants share its rows, or add the column in a migration and run the command again`

function loadedEntities(classes: readonly TableClass[]): readonly LoadedEntity[] {
  const declared = entityClasses(declaredClasses(classes.map(({ entity }) => entity)))
  return declared.map((facts) => {
    const { table, leftOut, internal, unfilled, refusal, notes } = classes.find(
      ({ entity }) => entity.name === facts.name,
    ) as TableClass
    return {
      facts: { ...facts, columns: facts.columns.filter(({ propertyName }) => !internal.has(propertyName)) },
      source: sourceOf(facts.name),
      ...{ refusal, lacks: { leftOut, unfilled } },
      descriptions: { description: table.comment ?? undefined, properties: new Map() },
      notes,
    }
  })
}

/** Returns the path of a class: `OrderItem` is in `src/entities/order-item.ts`. */
const sourceOf = (name: string): string => `${ENTITIES}/${fileOf(name)}.ts`

const fileOf = (name: string): string => snakeOf(name).replaceAll('_', '-')

/** Writes the modules of the selected classes, and a module that exports all classes. */
function writeClasses(
  folder: string,
  classes: readonly TableClass[],
  chosen: readonly string[],
  { write }: WrittenFiles,
  additions: Additions,
): DecoratedSources {
  const end = importExtension(folder) === 'js' ? '.js' : ''
  const exported: string[] = []
  for (const { entity } of classes) {
    const source = sourceOf(entity.name)
    exported.push(entity.name)
    const [added] = additions.get(source) ?? []
    if (chosen.includes(entity.name))
      write(
        source,
        classSource(entity, added, (name) => `./${fileOf(name)}${end}`),
      )
  }
  write(
    join(ENTITIES, 'index.ts'),
    exported
      .sort()
      .map((name) => `export { ${name} } from './${fileOf(name)}${end}'\n`)
      .join(''),
  )
  return { sources: new Set(exported.map(sourceOf)), notes: [] }
}

/** @throws {Failure} unless the user has specified the tenant of the rows. */
function checkTenant({ tenantColumn, withoutTenants }: FromDatabaseFlags, { chosen }: Tables): void {
  const having = (column: string) =>
    chosen.filter(({ columns }) => columns.some(({ name }) => name === column)).length
  if (tenantColumn !== undefined) {
    if (having(tenantColumn) === 0)
      throw new Failure('input', `--tenant-column: no table has a column ${tenantColumn}`)
    return
  }
  if (withoutTenants) return
  const columns = new Set(chosen.flatMap((table) => table.columns.map(({ name }) => name)))
  const found = [...columns]
    .filter(isTenantName)
    .map((one) => `--tenant-column ${one} (${having(one)} of ${chosen.length} tables have it)`)
  throw new Failure('input', `say whose the rows are: ${[...found, '--without-tenants'].join(', or ')}`)
}
