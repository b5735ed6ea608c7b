import { expect } from 'chai'
import { unknownFieldIn } from '../../../lib/server/validation/named-fields.js'
import { TicketSchema } from '../../support/gen/tickets_pb.js'

describe('the fields that an expression names', () => {
  const wrong = {
    'this.titel.size() < 300': 'titel',
    'this.title == "" || this.titel.size() < 3': 'titel',
    'has(this.titel)': 'titel',
    'this.place.hal == ""': 'hal',
    "this.title == r'\\' && this.titel == ''": 'titel',
    'this\n  .place\n  .hal': 'hal',
    'this.guests.all(guest, this.titel == guest.name)': 'titel',
    'this.startHour < 7': 'startHour',
  }
  for (const [expression, name] of Object.entries(wrong))
    it(`are compared with the message: ${expression}`, () => {
      expect(unknownFieldIn(expression, TicketSchema)).to.match(new RegExp(`^\`${name}\` is not in `))
    })

  const right = [
    'this.title.size() < 300',
    'this.place.hall.startsWith("this.titel")',
    "this.title == 'it\\'s this.titel'",
    'this.title == "" // this.titel',
    'this.guests.all(guest, guest.nmae == "")',
    "this.labels.all(key, key != 'x') && this.labels.colour == 'red'",
    '[1].all(this, this.titel)',
    'this.?titel.hasValue()',
    'other.this.titel',
    'this == this',
  ]
  for (const expression of right)
    it(`are left alone: ${expression}`, () => {
      expect(unknownFieldIn(expression, TicketSchema)).to.equal(undefined)
    })
})
