import { parse } from 'liqe'

/** The same condition in liqe's syntax. It is only parsed, not compiled. */
const FILTER = 'state:"ACTIVE" AND size:>=200 AND (display_name:"Widget" OR price:<12.5) AND tags.env:"prod"'

export function setUp() {
  return {
    operations: {
      parse() {
        if (parse(FILTER).type !== 'LogicalExpression') throw new TypeError('not parsed')
      },
    },
  }
}
