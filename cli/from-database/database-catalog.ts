import type { DataSource } from 'typeorm'
import {
  COLUMNS,
  CONSTRAINTS,
  INDEXES,
  NEEDED,
  RELATIONS,
  RESERVED,
  SEQUENCES,
  TRIGGERS,
  TYPES,
} from './catalog-queries.js'

/** A column of a table. */
export interface CatalogColumn {
  readonly name: string
  /** The type in SQL, such as `numeric(12,2)`. */
  readonly declared: string
  /** The type's name in the catalog, such as `int4` or `_text`. For a domain, this is the base type. */
  readonly type: string
  /**
   * The kind of the type, or of an array's element type: `e` for an enum, `c` for a composite type, `r` and
   * `m` for ranges.
   */
  readonly typeKind: string
  /** The element type; null if the column is not an array. */
  readonly element: string | null
  readonly typeId: string
  /** The type modifier with the length or precision; -1 if none is declared. */
  readonly modifier: number
  readonly isRequired: boolean
  readonly default: string | null
  /** The expression of a generated column. */
  readonly computed: string | null
  /** `a` for GENERATED ALWAYS AS IDENTITY, `d` for BY DEFAULT; otherwise empty. */
  readonly identity: '' | 'a' | 'd'
  /** The sequence of a serial or identity column. */
  readonly sequence: string | null
  /** Null for the type's default collation. */
  readonly collation: string | null
  /** True for a nondeterministic collation. */
  readonly isInexact: boolean
  readonly comment: string | null
}

/** A key, check, foreign key or exclusion. */
export interface CatalogConstraint {
  readonly name: string
  /**
   * The kind: `p` for a primary key, `u` for unique, `c` for a check, `f` for a foreign key, `x` for an
   * exclusion.
   */
  readonly kind: 'p' | 'u' | 'c' | 'f' | 'x'
  readonly definition: string
  readonly columns: readonly string[]
  /** The id of a foreign key's target table. */
  readonly target: string
  readonly targetColumns: readonly string[]
  /** `c` for CASCADE, `n` for SET NULL, `r` for RESTRICT, `d` for SET DEFAULT and `a` for NO ACTION. */
  readonly onDelete: string
  readonly isDeferrable: boolean
}

export interface CatalogIndex {
  readonly name: string
  readonly definition: string
  readonly isUnique: boolean
  readonly method: string
  /** True if the index has expressions or included columns. */
  readonly isSpecial: boolean
  readonly condition: string | null
  readonly columns: readonly string[]
}

export interface CatalogTrigger {
  readonly name: string
  readonly definition: string
  /** The id of its function. */
  readonly function: string
  readonly functionName: string
  readonly source: string
  readonly isBefore: boolean
  readonly onInsert: boolean
  readonly onUpdate: boolean
}

/** A table, view or foreign table. */
export interface CatalogTable {
  readonly id: string
  readonly schema: string
  readonly name: string
  /**
   * The kind: `r` for a table, `p` for a partitioned table, `v` for a view, `m` for a materialized view, `f`
   * for a foreign table.
   */
  readonly kind: 'r' | 'p' | 'v' | 'm' | 'f'
  readonly comment: string | null
  readonly isPartition: boolean
  readonly isOfExtension: boolean
  readonly partitioning: string | null
  /** True if row-level security is enabled. */
  readonly hasPolicies: boolean
  /** The values of a partition, such as `FOR VALUES IN (1)`. */
  readonly bound: string | null
  /** The parent of a partition or child table. */
  readonly parent: string | null
  readonly columns: readonly CatalogColumn[]
  readonly constraints: readonly CatalogConstraint[]
  readonly indexes: readonly CatalogIndex[]
  readonly triggers: readonly CatalogTrigger[]
}

/** An enum type, a domain or a composite type. */
export interface CatalogType {
  readonly id: string
  /** The name with its schema, unless that is `public`. */
  readonly name: string
  readonly schema: string
  readonly plainName: string
  readonly kind: 'e' | 'd' | 'c'
  readonly labels: readonly string[]
  /** The base type, default and checks of a domain, or the fields of a composite type. */
  readonly definition: string | null
}

export interface CatalogSequence {
  readonly name: string
  readonly schema: string
  readonly type: string
  readonly start: string
  readonly increment: string
  readonly minimum: string
  readonly maximum: string
  readonly cache: string
  readonly isCycle: boolean
  /** True if it belongs to an identity column. */
  readonly isIdentity: boolean
  /** The table and column that own the sequence. */
  readonly table: string | null
  readonly column: string | null
  /** The ids of the tables that use it in a default. */
  readonly users: readonly string[]
}

/** A function or an extension that a table needs. */
export interface Needed {
  readonly table: string
  readonly extension: string | null
  readonly extensionSchema: string | null
  readonly function: string | null
  readonly functionSchema: string | null
  readonly definition: string | null
  readonly signature: string | null
  readonly isTrigger: boolean | null
}

/** The parts of a PostgreSQL database from which classes and DDL are generated. */
export interface Catalog {
  readonly tables: readonly CatalogTable[]
  readonly types: readonly CatalogType[]
  readonly sequences: readonly CatalogSequence[]
  readonly needed: readonly Needed[]
  /** Words that must be quoted as names in SQL. */
  readonly reserved: ReadonlySet<string>
}

/** Reads the catalog in one snapshot. Names in definitions include their schema, unless it is `public`. */
export const readCatalog = (dataSource: DataSource): Promise<Catalog> =>
  dataSource.transaction('REPEATABLE READ', async (manager) => {
    const rows = async <T>(sql: string) => (await manager.query(sql)) as readonly T[]
    await manager.query('SET TRANSACTION READ ONLY')
    await manager.query(`SELECT set_config('search_path', 'public', true)`)
    const relations =
      await rows<Omit<CatalogTable, 'columns' | 'constraints' | 'indexes' | 'triggers'>>(RELATIONS)
    const parts = async <T>(sql: string) => byTable(await rows<T & { readonly table: string }>(sql))
    const columns = await parts<CatalogColumn>(COLUMNS)
    const constraints = await parts<CatalogConstraint>(CONSTRAINTS)
    const indexes = await parts<CatalogIndex>(INDEXES)
    const triggers = await parts<CatalogTrigger>(TRIGGERS)
    return {
      tables: relations.map((one) => ({
        ...one,
        columns: columns.get(one.id) ?? [],
        constraints: constraints.get(one.id) ?? [],
        indexes: indexes.get(one.id) ?? [],
        triggers: triggers.get(one.id) ?? [],
      })),
      types: await rows<CatalogType>(TYPES),
      sequences: await rows<CatalogSequence>(SEQUENCES),
      needed: await rows<Needed>(NEEDED),
      reserved: new Set((await rows<{ readonly word: string }>(RESERVED)).map(({ word }) => word)),
    }
  })

function byTable<T extends { readonly table: string }>(
  rows: readonly T[],
): ReadonlyMap<string, readonly T[]> {
  const found = new Map<string, T[]>()
  for (const row of rows) found.set(row.table, [...(found.get(row.table) ?? []), row])
  return found
}

/** Returns the table's name with its schema, such as `billing.invoices`. The schema `public` is omitted. */
export const tableName = ({ schema, name }: Pick<CatalogTable, 'schema' | 'name'>): string =>
  schema === 'public' ? name : `${schema}.${name}`

/** Returns the columns of the primary key. */
export const keyOf = ({ constraints }: CatalogTable): readonly string[] =>
  constraints.find(({ kind }) => kind === 'p')?.columns ?? []
