import { create, createRegistry, type DescMethod, type DescService } from '@bufbuild/protobuf'
import { FieldRulesSchema, field as rulesOption } from 'ashlar-annotations/buf/validate/validate_pb.js'
import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { RequestContext } from '../../../lib/context.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { methodOf } from '../../../lib/server/chain/method.js'
import { loadMessageRules } from '../../../lib/server/validation/protovalidate.js'
import { validation } from '../../../lib/server/validation/validation.js'
import { Ticket } from '../../support/entities/ticket.js'
import { ParcelService } from '../../support/gen/parcels_pb.js'
import { TicketService, type UpdateTicketRequest } from '../../support/gen/tickets_pb.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { ALICE, recordingLogger, type RunningServer, startServer } from '../../support/servers/server.js'
import { withOption } from './altered-service.js'
import { batchJson, type Listener, listenersOf, queryOf, replyOf, type Route } from './calls.js'

const ROUTES: Readonly<Record<string, Route>> = {
  CreateTicket: ({ ticket, ...query }) => ['POST', `/v1/tickets${queryOf(query)}`, ticket],
  UpdateTicket: ({ ticket, ...query }) => [
    'PATCH',
    `/v1/tickets/${(ticket as { id: string }).id}${queryOf(query)}`,
    ticket,
  ],
  ListTickets: (query) => ['GET', `/v1/tickets${queryOf(query)}`, undefined],
  BatchUpdateTickets: (request) => ['POST', '/v1/tickets:batchUpdate', batchJson(request)],
  QuoteTicket: (request) => ['POST', '/v1/tickets:quote', request],
}
const CONTEXT = {
  context: new RequestContext({ principal: { subject: 'alice', tenant: 'acme', groups: [], scopes: [] } }),
}
const SOUND = { title: 'opera', seats: 2 }

describe('rules of buf.validate', () => {
  const tickets = new MemoryRepository(Ticket)
  let running: RunningServer
  let client: ForeignClient
  let listeners: readonly Listener[]
  let quoted = 0

  before(async () => {
    running = await startServer((builder) =>
      builder.register(TicketService, tickets, {
        quoteTicket: () => ({ price: ++quoted }),
        loadTickets: async (requests: AsyncIterable<UpdateTicketRequest>) => {
          let price = 0
          for await (const _request of requests) price++
          return { price }
        },
      }),
    )
    client = new ForeignClient(TicketService, running.grpc)
    listeners = listenersOf(client, running.http, ROUTES)
  })
  after(async () => {
    client.close()
    await running.stop()
  })

  const store = async () => (await tickets.create({ title: 'opera', labels: {} }, CONTEXT)).id
  const pairs = (violations: readonly { readonly field: string; readonly reason?: string }[]) =>
    violations.map(({ field, reason }) => [field, reason])

  for (const name of ['gRPC', 'HTTP'] as const)
    describe(`over ${name}`, () => {
      const call = (method: string, request: object) =>
        listeners.find((one) => one.name === name)!.call(method, request)
      const mapOf = (entries: object) =>
        name === 'gRPC'
          ? Object.entries(entries).map(([key, value]) => ({ key, value: value as unknown }))
          : entries
      const made = (ticket: object) => call('CreateTicket', { ticket: { ...SOUND, ...ticket } })

      it('accept what keeps them, without what the server sets', async () => {
        const { code, answer } = await made({ email: 'a@example.com', labels: mapOf({ a: 'long enough' }) })
        expect([code, answer['title']]).to.deep.equal([0, 'opera'])
      })

      it('are told together with field behavior, in one error', async () => {
        const { code, violations } = await call('CreateTicket', {
          ticket: { seats: 9, guests: [{ age: -1 }] },
        })
        expect(code).to.equal(3)
        expect(pairs(violations)).to.deep.equal([
          ['ticket.title', 'REQUIRED'],
          ['ticket.guests[0].name', 'REQUIRED'],
          ['ticket.seats', 'INT32_GTE_LTE'],
          ['ticket.guests[0].age', 'INT32_GTE'],
        ])
      })

      const broken: readonly (readonly [string, string, object])[] = [
        ['ticket.title', 'STRING_MAX_LEN', { title: 'a title too long' }],
        ['ticket.email', 'STRING_EMAIL', { email: 'nobody' }],
        ['ticket.place.hall', 'STRING_PATTERN', { place: { hall: 'low' } }],
        ['ticket.place', 'PLACE_PAIR', { place: { row: 3 } }],
        ['ticket.labels["too long"]', 'STRING_MAX_LEN', { labels: mapOf({ 'too long': 'x' }) }],
        ['ticket', 'TICKET_WINDOW', { start_hour: 9, end_hour: 8 }],
        ['ticket.id', 'STRING_MIN_LEN', { id: 'a' }],
      ]
      for (const [field, reason, ticket] of broken)
        it(`refuse a create because of ${field}: ${reason}`, async () => {
          const { code, violations } = await made(ticket)
          expect([code, pairs(violations)]).to.deep.equal([3, [[field, reason]]])
        })

      it('are the same under validate_only', async () => {
        const { violations } = await call('CreateTicket', {
          ticket: { ...SOUND, seats: 9 },
          validate_only: true,
        })
        expect(pairs(violations)).to.deep.equal([['ticket.seats', 'INT32_GTE_LTE']])
      })

      it('hold what the mask of an update names, and messages as a whole only without one', async () => {
        const id = await store()
        const update = async (ticket: object, ...paths: string[]) => {
          const reply = await call('UpdateTicket', { ticket: { id, ...ticket }, update_mask: { paths } })
          return reply.code === 0 ? 'OK' : pairs(reply.violations)
        }
        const wrong = { title: 'a title too long', seats: 9, start_hour: 9, end_hour: 8 }
        expect(await update({ ...wrong, ratio: 1 }, 'ratio')).to.equal('OK')
        expect(await update(wrong, 'seats')).to.deep.equal([['ticket.seats', 'INT32_GTE_LTE']])
        expect(await update(wrong, 'start_hour', 'end_hour')).to.equal('OK')
        expect(await update({ ...wrong, title: 'a', seats: 1 }, '*')).to.deep.equal([
          ['ticket', 'TICKET_WINDOW'],
        ])
        expect(await update({ place: { hall: 'low', row: 100 } }, 'place')).to.deep.equal([
          ['ticket.place.hall', 'STRING_PATTERN'],
          ['ticket.place.row', 'INT32_LTE'],
        ])
        expect(await update({ place: { row: 100 } }, 'place.row')).to.deep.equal([
          ['ticket.place.row', 'INT32_LTE'],
        ])
        expect(await update({ place: { row: 3 } }, 'place')).to.deep.equal([['ticket.place', 'PLACE_PAIR']])
      })

      it('hold each item of a batch under its own mask', async () => {
        const ids = [await store(), await store()]
        const wrong = { title: 'a title too long', seats: 9 }
        const { violations } = await call('BatchUpdateTickets', {
          requests: [
            { ticket: { id: ids[0], ...wrong }, update_mask: { paths: ['seats'] } },
            { ticket: { id: ids[1], ...wrong }, update_mask: { paths: ['title'] } },
          ],
        })
        expect(pairs(violations)).to.deep.equal([
          ['requests[0].ticket.seats', 'INT32_GTE_LTE'],
          ['requests[1].ticket.title', 'STRING_MAX_LEN'],
        ])
      })

      it('hold requests that carry no resource', async () => {
        expect(pairs((await call('ListTickets', { page_size: 101 })).violations)).to.deep.equal([
          ['page_size', 'INT32_LTE'],
        ])
        expect((await call('ListTickets', { page_size: 100 })).code).to.equal(0)
      })

      it('hold requests of methods of our own, and messages and oneofs in them', async () => {
        const before = quoted
        const { code, violations, message } = await call('QuoteTicket', {})
        expect([code, message]).to.deep.equal([3, 'name a hall or a price (and 1 more)'])
        expect(pairs(violations)).to.deep.equal([
          ['', 'QUOTE_EITHER'],
          ['payer', 'REQUIRED'],
        ])
        expect(pairs((await call('QuoteTicket', { hall: 'A', sender: 'x' })).violations)).to.deep.equal([
          ['sender', 'STRING_MIN_LEN'],
        ])
        expect(quoted).to.equal(before)
        expect((await call('QuoteTicket', { hall: 'A', receiver: 'x' })).code).to.equal(0)
      })

      it('never repeat a secret', async () => {
        const { violations } = await made({ pin: 'hunter2' })
        expect(violations).to.deep.equal([
          { field: 'ticket.pin', reason: 'PIN_DIGITS', description: 'violates the rule pin.digits' },
        ])
      })

      it('that fail themselves are Internal, and logged', async () => {
        running.records.length = 0
        const { code, message } = await made({ ratio: 7 })
        expect([code, message]).to.deep.equal([13, 'internal error'])
        const logged = running.records.find((record) => record.message === 'call failed')
        expect((logged?.fields['err'] as Error).message).to.match(/divi/)
      })

      it('are told at most 100 times', async () => {
        const guests = Array.from({ length: 500 }, () => ({ name: 'a', age: -1 }))
        const { code, violations } = await made({ guests })
        expect([code, violations.length > 50, violations.length <= 100]).to.deep.equal([3, true, true])
      })
    })

  it('are told once by a message with more work than 5,000, and not evaluated with more than 100,000', async () => {
    const [grpc] = listeners
    const guests = (count: number) =>
      Array.from({ length: count }, (_one, index) => ({ name: 'a', age: index < 2 ? -1 : 0 }))
    const whole = (count: number) => ({ ...SOUND, id: 'abc', serial: 's', guests: guests(count) })
    const { violations } = await grpc!.call('CreateTicket', { ticket: whole(5_000) })
    expect(pairs(violations)).to.deep.equal([['ticket.guests[0].age', 'INT32_GTE']])
    const masked = await grpc!.call('UpdateTicket', {
      ticket: { id: await store(), title: 'a title too long', guests: guests(5_000) },
      update_mask: { paths: ['guests'] },
    })
    expect([masked.code, masked.message]).to.deep.equal([
      3,
      'violates rules, but is too large to name them: send fewer at a time',
    ])
    const { code, message } = await grpc!.call('CreateTicket', { ticket: whole(60_000) })
    expect([code, message]).to.deep.equal([
      3,
      'ticket.guests[49997].age: is too large for its rules to be evaluated: send fewer or shorter values at a time',
    ])
  })

  it('hold each message of a stream under its own mask', async () => {
    const send = async (...requests: object[]) => replyOf(await client.stream('LoadTickets', requests, ALICE))
    const sound = { ticket: { seats: 1, title: 'a title too long' }, update_mask: { paths: ['seats'] } }
    expect((await send(sound, sound)).code).to.equal(0)
    const wrong = { ticket: { seats: 9 }, update_mask: { paths: ['seats'] } }
    expect(pairs((await send(sound, wrong)).violations)).to.deep.equal([['ticket.seats', 'INT32_GTE_LTE']])
  })

  describe('at start-up', () => {
    const logger = recordingLogger()
    const redaction = { isSecret: () => false, types: createRegistry() }
    const load = (...services: DescService[]) => loadMessageRules(services, redaction, logger)
    const cel = (expression: string) =>
      create(FieldRulesSchema, { cel: [{ id: 'own.rule', expression, message: 'is wrong' }] })

    it('are not looked for where no message has any', async () => {
      expect(await load(ParcelService)).to.deep.equal({ rules: undefined, problems: [] })
    })

    it('leave methods alone whose request can hold none', async () => {
      const { rules } = await load(TicketService, ParcelService)
      expect(rules?.checkOf(ParcelService.method.createParcel.input)).to.equal(undefined)
      expect(rules?.checkOf(TicketService.method.listTickets.input)).to.be.a('function')
      const next = (): never => expect.fail('it is not called')
      const composed = (desc: DescMethod) =>
        validation(rules)(next as never, { method: methodOf(desc), handler: {} as never })
      expect(composed(ParcelService.method.countParcels)).to.equal(next)
      expect(composed(TicketService.method.listTickets)).to.not.equal(next)
    })

    // A list has no elements in an empty message, and an unset message no fields.
    for (const path of ['Ticket.seats', 'Ticket.email', 'Place.row', 'Guest.age'] as const)
      it(`name ${path} where its expression cannot be compiled`, async () => {
        const { problems } = await load(withOption(TicketService, path, rulesOption, cel('this +')))
        expect(problems.length).to.equal(1)
        expect(problems[0]?.text).to.match(
          new RegExp(
            `^tickets\\.v1\\.${path.replace('.', '\\.')}: the buf\\.validate rule own\\.rule cannot be used: `,
          ),
        )
      })

    it('name the field whose rule is for another type', async () => {
      const text = create(FieldRulesSchema, { type: { case: 'string', value: { minLen: 1n } } })
      const { problems } = await load(withOption(TicketService, 'Place.row', rulesOption, text))
      expect(problems.length).to.equal(1)
      expect(problems[0]?.text).to.include('tickets.v1.Place').and.to.include('row')
    })

    it('name a field that the message of an expression does not have', async () => {
      const { problems } = await load(
        withOption(TicketService, 'Ticket.place', rulesOption, cel("this.row == 0 || this.hal != ''")),
      )
      expect(problems.map(({ text }) => text)).to.deep.equal([
        'tickets.v1.Ticket.place: the buf.validate rule own.rule cannot be used: `hal` is not in Place; did you mean `hall`?',
      ])
    })

    it('log what only fails on an empty message', async () => {
      logger.records.length = 0
      const { problems } = await load(
        withOption(TicketService, 'Place.row', rulesOption, cel('1 / this > 0')),
      )
      expect(problems).to.deep.equal([])
      expect(logger.records.map(({ level, fields }) => [level, fields['message']])).to.deep.equal([
        ['warn', 'tickets.v1.Place'],
      ])
    })

    it('say what to install where nothing evaluates them', async () => {
      const host = fileURLToPath(new URL('hosts/without-protovalidate.js', import.meta.url))
      const { stdout } = await promisify(execFile)(process.execPath, [host])
      expect((JSON.parse(stdout) as { text: string }[]).map(({ text }) => text)).to.deep.equal([
        'tickets.v1.ListTicketsRequest.page_size has buf.validate rules, but nothing evaluates them: npm install @bufbuild/protovalidate',
      ])
    })
  })
})
