import { expect } from 'chai'
import { AshlarError, ErrPreconditionFailed, InvalidArgument } from '../../../lib/errors.js'
import { DriverFault } from '../../../lib/faults/driver-fault.js'
import { refusalOf } from '../../../lib/server/observability/refusal.js'
import { TicketService } from '../../support/gen/tickets_pb.js'

const { input } = TicketService.method.createTicket
const fieldsOf = (...fields: string[]) =>
  refusalOf(
    InvalidArgument.of(fields.map((field) => ({ field, description: 'has "hunter2"', reason: 'WRONG' }))),
    input,
  ).violations?.map(({ field }) => field)

describe('what a log has of an error', () => {
  it('is its reason, and the names and reasons of fields', () => {
    const error = InvalidArgument.of([
      { field: 'ticket.title', description: 'hunter2 is wrong', reason: 'REQUIRED' },
      { field: 'ticket.place.hall', description: 'hunter2' },
    ])
    const { violations } = refusalOf(error, input)
    expect(violations).to.deep.equal([
      { field: 'ticket.title', reason: 'REQUIRED' },
      { field: 'ticket.place.hall' },
    ])
    expect(refusalOf(ErrPreconditionFailed.etag(), input)).to.deep.equal({
      reason: 'PRECONDITION_FAILED',
      precondition: 'ETAG',
    })
  })

  it('is nothing that callers choose: no key of a map, and no name that is not declared', () => {
    expect(
      fieldsOf(
        'ticket.labels["hunter2"]',
        'ticket.guests[3].age',
        'ticket.guests["hunter2"].age',
        'ticket.hunter2',
        'hunter2',
        'title',
        'place.hall.hunter2',
        'a "quoted" thing',
        '',
      ),
    ).to.deep.equal([
      'ticket.labels[*]',
      'ticket.guests[3].age',
      'ticket.guests[*].age',
      'ticket',
      undefined,
      'title',
      'place.hall',
      undefined,
      undefined,
    ])
  })

  it('is what a database says of a rule, without the values of the row', () => {
    const refusal = (code: string, message: string) =>
      refusalOf(
        new ErrPreconditionFailed(
          new DriverFault(
            Object.assign(new Error(message), {
              code,
              severity: 'ERROR',
              detail: 'Failing row contains (hunter2).',
            }),
          ),
        ),
        input,
      ).database
    const check = 'new row for relation "stays" violates check constraint "stays_nights_check"'
    expect(refusal('23514', check)).to.equal(check)
    expect(refusal('P0001', 'hunter2 is not allowed')).to.equal('the database returned P0001')
  })

  it('is at most ten fields', () => {
    expect(fieldsOf(...Array<string>(50).fill('ticket.title'))).to.have.length(10)
  })

  it('is nothing of other errors', () => {
    expect(refusalOf(new TypeError('hunter2'), input)).to.deep.equal({})
    expect(refusalOf(new AshlarError('INTERNAL', 'hunter2'), input)).to.deep.equal({})
  })
})
