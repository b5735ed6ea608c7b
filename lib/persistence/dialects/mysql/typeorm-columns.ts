import type { ColumnOptions } from 'typeorm'
import { mysqlLiteral } from './default-text.js'
import { sizedType } from '../typeorm/sized-type.js'
import type { TypeormColumnsSql } from '../typeorm/typeorm-columns-sql.js'

const TYPES = [
  ...['bit', 'int', 'integer', 'tinyint', 'smallint', 'mediumint', 'bigint', 'float', 'double', 'real'],
  ...['double precision', 'dec', 'decimal', 'numeric', 'fixed', 'bool', 'boolean', 'date', 'datetime'],
  ...['timestamp', 'time', 'year', 'char', 'nchar', 'national char', 'varchar', 'nvarchar', 'json'],
  ...['national varchar', 'text', 'tinytext', 'mediumtext', 'longtext', 'blob', 'tinyblob', 'mediumblob'],
  ...['longblob', 'binary', 'varbinary', 'enum', 'simple-enum', 'set'],
]

/** Types that need a length; TypeORM's default is 255 characters or bytes. */
const OF_A_LENGTH = /^(?:n?varchar|national varchar|varbinary)$/

export const mysqlTypeormColumns: TypeormColumnsSql = {
  computed: undefined,
  generated: '',
  types: new Set(TYPES),
  typed: (type, options) => {
    if (['enum', 'simple-enum', 'set'].includes(type))
      return `${type.replace('simple-', '')}(${valuesOf(options.enum).map(mysqlLiteral).join(', ')})`
    const { length, unsigned } = options
    const isUnsized = OF_A_LENGTH.test(type) && (length === undefined || length === '')
    const sized = sizedType(type, isUnsized ? { ...options, length: 255 } : options)
    return `${sized}${unsigned === true ? ' unsigned' : ''}`
  },
  attributes: ({ charset, collation, onUpdate }) =>
    [
      ...(charset === undefined ? [] : [` CHARACTER SET ${charset}`]),
      ...(collation === undefined ? [] : [` COLLATE ${collation}`]),
      ...(onUpdate === undefined ? [] : [` ON UPDATE ${onUpdate}`]),
    ].join(''),
}

/**
 * Returns the values of an enum. A TypeScript enum object of numbers also contains the names of its members
 * as values.
 */
const valuesOf = (values: ColumnOptions['enum'] = []): readonly string[] =>
  Array.isArray(values)
    ? values.map(String)
    : Object.entries(values)
        .filter(([name]) => Number.isNaN(Number(name)))
        .map(([, value]) => String(value))
