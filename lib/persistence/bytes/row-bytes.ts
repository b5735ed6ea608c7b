import type { ResourceModel } from '../../resource/resource-model.js'
import type { Dialect } from '../dialects/dialect.js'
import { countedFields } from './counted-bytes.js'

/**
 * SQL for how many bytes a row has of what counts towards a page.
 * @param own - qualifies the columns.
 */
export const rowBytes = (model: ResourceModel, dialect: Dialect, own = ''): string =>
  countedFields(model)
    .map(
      ({ column, kind }) =>
        `COALESCE(${dialect.values.byteLength(own + dialect.text.quote(column), kind)}, 0)`,
    )
    .join(' + ') || '0'

/**
 * A statement for the bytes of each row that a SELECT reads, or of all of them.
 * @param bytes - of a row. @param rest - of the SELECT, from FROM on.
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
