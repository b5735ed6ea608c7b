import { expect } from 'chai'
import { DriverFault } from '../../lib/faults/driver-fault.js'
import { refusedColumnOf } from '../../lib/faults/refused-column.js'

const refusal = (message: string, more: object = { errno: 1292, sqlState: '22007' }) =>
  Object.assign(new Error(message), more)

describe('the column that cannot hold a value', () => {
  for (const [what, message, column] of [
    [
      'of MariaDB',
      "Incorrect datetime value: '2100-01-01' for column `shop`.`carts`.`due_time` at row 1",
      'due_time',
    ],
    ['of MySQL', "Incorrect datetime value: '2100-01-01' for column 'due_time' at row 2", 'due_time'],
    ['the last that is named', "Incorrect value: 'x for column `id` at row 1' for column `n` at row 1", 'n'],
    ['none where a value stands last', "Incorrect value: 'x for column `id` at row 1'", undefined],
  ] as const)
    it(`is ${what}`, () => {
      expect(refusedColumnOf(refusal(message))).to.equal(column)
      expect(new DriverFault(refusal(message)).refusedColumn).to.equal(column)
    })

  it('is none of another error, and of none of a database', () => {
    const message = "Duplicate entry 'x' for column `id` at row 1"
    expect(refusedColumnOf(refusal(message, { errno: 1062, sqlState: '23000' }))).to.equal(undefined)
    expect(refusedColumnOf(refusal(message, {}))).to.equal(undefined)
    expect(refusedColumnOf(undefined)).to.equal(undefined)
  })
})
