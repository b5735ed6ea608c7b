import { parseFilter } from '../../lib/persistence/dialects/parse-filter.js'
import type { Columns } from '../../lib/resource/fields/field.js'
import type { Side } from '../subject.js'

const FILTER = 'state = "ACTIVE" AND size >= 200 AND (display_name = "Widget" OR price < 12.5) AND name = "x"'
const COLUMNS: Columns = {
  state: 'state',
  size: { column: 'size', kind: 'int32', nullable: false },
  price: { column: 'price', kind: 'double', nullable: false },
  display_name: { column: 'display_name', kind: 'string', nullable: false },
  name: { column: 'name', kind: 'string', nullable: false },
}

/** Compiles a filter string to the WHERE clause and its values. */
export function setUp(): Side {
  return {
    operations: {
      parse() {
        if (parseFilter(FILTER, COLUMNS).params.length !== 5) throw new TypeError('not parsed')
      },
    },
  }
}
