import { DefaultNamingStrategy, type NamingStrategyInterface } from 'typeorm'
import { snakeCase } from '../../lib/text/snake-case.js'

/** The naming of a resource's columns. @inline */
export type ResourceNaming = 'snake' | 'typeorm' | NamingStrategyInterface

/** A property with a column, as TypeORM stores it. */
interface NamedColumn {
  readonly propertyName: string
  readonly options: { readonly name?: string | undefined }
}

/** The reference of a relation as declared. */
export interface DeclaredReference {
  /** The property of the relation. */
  readonly property: string
  /** The options of `@JoinColumn()`, if it has any. */
  readonly join: { readonly name?: string; readonly referencedColumnName?: string } | undefined
  /** Returns the target's key property, or undefined if it is not known. */
  readonly targetKey: () => string | undefined
}

const TYPEORMS = new DefaultNamingStrategy()

/** The methods of a naming strategy that apply to resources. */
const METHODS = [
  ...['columnName', 'joinColumnName', 'tableName', 'prefixTableName'],
  ...['indexName', 'uniqueConstraintName', 'relationConstraintName'],
] as const

export const isNamingStrategy = (value: unknown): value is NamingStrategyInterface =>
  typeof value === 'object' &&
  value !== null &&
  METHODS.every((method) => typeof Reflect.get(value, method) === 'function')

/**
 * Returns the naming strategy of a resource that leaves TypeORM's metadata unchanged. Returns undefined if
 * `@Resource()` uses snake_case, and for an invalid naming, which the resource model rejects.
 */
export function strategyOf(naming: unknown): NamingStrategyInterface | undefined {
  if (naming === 'typeorm') return TYPEORMS
  return isNamingStrategy(naming) ? naming : undefined
}

/**
 * Names the columns of one resource.
 *
 * @param own - the resource's strategy.
 * @param by - the strategy to use. A DataSource may have a different one.
 */
export class ColumnNames {
  constructor(
    private readonly own: NamingStrategyInterface | undefined,
    private readonly by = own,
  ) {}

  of({ propertyName, options: { name } }: NamedColumn): string {
    const reported = name ?? (this.own === undefined ? snakeCase(propertyName) : undefined)
    return this.by?.columnName(propertyName, reported, []) ?? reported ?? propertyName
  }

  /**
   * Returns the column of a reference as TypeORM determines it. Returns undefined if it depends on an unknown
   * target.
   *
   * @param columns - the columns that the entity declares.
   */
  ofReference(
    { property, join, targetKey }: DeclaredReference,
    columns: readonly NamedColumn[],
  ): string | undefined {
    if (this.own === undefined) {
      const reported = join?.name ?? snakeCase(hiddenProperty(property))
      return this.#joined(property, reported, columns)
    }
    const reported = join?.name ?? this.#joinName(property, join?.referencedColumnName ?? targetKey())
    return reported === undefined ? undefined : this.#joined(property, reported, columns)
  }

  #joinName(property: string, referred: string | undefined): string | undefined {
    return referred === undefined ? undefined : this.by?.joinColumnName(property, referred)
  }

  /** Returns a declared column of this name, or the name of the column that TypeORM creates. */
  #joined(property: string, name: string, columns: readonly NamedColumn[]): string {
    if (this.by === undefined || columns.some((column) => this.of(column) === name)) return name
    return this.by.columnName(property, name, [])
  }
}

/** Returns the property of a reference without one of its own: `projectId` for `project`. */
export const hiddenProperty = (property: string): string => `${property}Id`
