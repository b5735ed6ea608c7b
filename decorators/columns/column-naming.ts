import { DefaultNamingStrategy, type NamingStrategyInterface } from 'typeorm'
import { snakeCase } from '../../lib/text/snake-case.js'

/** The naming of a resource's columns. */
export type ResourceNaming = 'snake' | 'typeorm' | NamingStrategyInterface

/** A property with a column, as TypeORM keeps it. */
interface NamedColumn {
  readonly propertyName: string
  readonly options: { readonly name?: string | undefined }
}

/** The reference of a relation, as it is declared. */
export interface DeclaredReference {
  /** The property of the relation. */
  readonly property: string
  /** The options of `@JoinColumn()`, if it has any. */
  readonly join: { readonly name?: string; readonly referencedColumnName?: string } | undefined
  /** The property that is the key of the target; undefined where that is not known. */
  readonly targetKey: () => string | undefined
}

const TYPEORMS = new DefaultNamingStrategy()

/** The methods of a strategy that name what a resource has. */
const METHODS = [
  ...['columnName', 'joinColumnName', 'tableName', 'prefixTableName'],
  ...['indexName', 'uniqueConstraintName', 'relationConstraintName'],
] as const

export const isNamingStrategy = (value: unknown): value is NamingStrategyInterface =>
  typeof value === 'object' &&
  value !== null &&
  METHODS.every((method) => typeof Reflect.get(value, method) === 'function')

/**
 * TypeORM's naming strategy of a resource that leaves TypeORM's metadata unchanged. Undefined if
 * `@Resource()` names the columns in snake_case; also for an invalid naming, which the resource model
 * rejects.
 */
export function strategyOf(naming: unknown): NamingStrategyInterface | undefined {
  if (naming === 'typeorm') return TYPEORMS
  return isNamingStrategy(naming) ? naming : undefined
}

/**
 * Names the columns of one resource.
 * @param own - the strategy of the resource.
 * @param by - the strategy to use; a DataSource may have another one.
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
   * The column of a reference, found as TypeORM does. Undefined where it depends on a target that is not
   * known.
   * @param columns - those that the entity declares.
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

  /** A declared column of the name is the reference; else TypeORM makes one. */
  #joined(property: string, name: string, columns: readonly NamedColumn[]): string {
    if (this.by === undefined || columns.some((column) => this.of(column) === name)) return name
    return this.by.columnName(property, name, [])
  }
}

/** `project` is referred to by `projectId`, as a property of one's own would be called. */
export const hiddenProperty = (property: string): string => `${property}Id`
