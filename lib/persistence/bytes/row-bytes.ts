import type { ResourceModel } from '../../resource/resource-model.js'
import type { Dialect } from '../dialects/dialect.js'
import { countedFields } from './counted-bytes.js'

/**
 * Returns a SQL expression for the bytes of a row that count towards a page.
 *
 * @param own - the qualifier of the columns.
 */
export const rowBytes = (model: ResourceModel, dialect: Dialect, own = ''): string =>
  countedFields(model)
    .map(
      ({ column, kind }) =>
        `COALESCE(${dialect.values.byteLength(own + dialect.text.quote(column), kind)}, 0)`,
    )
    .join(' + ') || '0'

/**
 * Returns a statement that selects the bytes of each row, or their total.
 *
 * @param bytes - the SQL expression for the bytes of one row.
 * @param rest - the SELECT from FROM on.
 */
export function bytesText(
  bytes: string,
  rest: string,
  isTotal: boolean,
  { text: { quote } }: Dialect,
): string {
  const [size, rows] = [quote('(bytes)'), quote('(rows)')]
  const text = `SELECT ${bytes} AS ${size} FROM ${rest}`
  return isTotal ? `SELECT COALESCE(SUM(${size}), 0) AS ${size} FROM (${text}) AS ${rows}` : text
}
