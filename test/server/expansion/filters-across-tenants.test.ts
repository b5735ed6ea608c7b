import { clone, create, setExtension } from '@bufbuild/protobuf'
import {
  DescriptorProtoSchema,
  MethodDescriptorProtoSchema,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { rule, RuleSchema } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import type { Decision } from '../../../lib/server/authz/decision.js'
import { aPerson, as, openPlans, type Plans } from '../../conformance/related/plans.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { CountryService, PersonService } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { ForeignClient } from '../../support/grpc/clients.js'
import { type RunningServer, startServer } from '../../support/servers/server.js'

/** With a List of countries, which is as that of persons. */
const ListedCountries = altered(CountryService, ({ file }) => {
  for (const ending of ['Request', 'Response']) {
    const like = file.messageType.find(({ name }) => name === `ListPersons${ending}`)!
    const message = clone(DescriptorProtoSchema, like)
    message.name = `ListCountries${ending}`
    for (const field of message.field.filter(({ name }) => name === 'persons'))
      Object.assign(field, { name: 'countries', jsonName: 'countries', typeName: '.plans.v1.Country' })
    file.messageType.push(message)
  }
  const methodsOf = (service: string) => file.service.find(({ name }) => name === service)!.method
  const list = clone(
    MethodDescriptorProtoSchema,
    methodsOf('PersonService').find(({ name }) => name === 'ListPersons')!,
  )
  const options = create(MethodOptionsSchema)
  setExtension(options, rule, create(RuleSchema, { public: true }))
  Object.assign(list, {
    name: 'ListCountries',
    inputType: '.plans.v1.ListCountriesRequest',
    outputType: '.plans.v1.ListCountriesResponse',
    options,
  })
  methodsOf('CountryService').push(list)
})

describeOn('filters between what tenants share and what is theirs', backends, (backend) => {
  let plans: Plans
  let running: RunningServer
  let persons: ForeignClient
  let countries: ForeignClient
  let decision: Decision = true

  before(async () => {
    plans = await openPlans(backend)
    running = await startServer(
      (builder) =>
        void builder.register(ListedCountries, plans.countries).register(PersonService, plans.persons),
      { authorizer: { decidesByRow: true, authorize: () => decision } },
    )
    persons = new ForeignClient(PersonService, running.grpc)
    countries = new ForeignClient(ListedCountries, running.grpc)
    for (const [id, title] of [
      ['no', 'Norway'],
      ['se', 'Sweden'],
    ] as const)
      await plans.countries.create({ id, title })
    await as('acme', () => plans.persons.create(aPerson('ada', { countryId: 'no' })))
    await as('globex', async () => {
      await plans.persons.create(aPerson('ada', { countryId: 'se' }))
      await plans.persons.create(aPerson('eve', { countryId: 'no' }))
    })
  })
  after(async () => {
    persons?.close()
    countries?.close()
    await running?.stop()
    await plans?.close()
  })
  beforeEach(() => {
    decision = true
  })

  const ask = async (client: ForeignClient, tenant: string, text: string) => {
    const [method, list] = client === persons ? ['ListPersons', 'persons'] : ['ListCountries', 'countries']
    const who = tenant === '' ? {} : { 'account-id': tenant, subject: 'ada' }
    const { details, answer } = await client.unary(method as string, { filter: text }, who)
    const items = answer?.[list as string] as { id: string }[] | undefined
    return items?.map(({ id }) => id).join(' ') ?? details
  }

  it('lead to what is shared, whoever asks', async () => {
    expect(await ask(persons, 'acme', 'country.title = "Norway"')).to.equal('ada')
    expect(await ask(persons, 'globex', 'country.title = "Norway"')).to.equal('eve')
  })

  it('lead back to the rows of the tenant of the call alone', async () => {
    const rows: readonly (readonly [tenant: string, text: string, ids: string])[] = [
      ['acme', 'persons:*', 'no'],
      ['acme', 'persons.title = "Person eve"', ''],
      ['acme', 'NOT persons:*', 'se'],
      ['globex', 'persons.title = "Person ada"', 'se'],
      ['globex', 'persons.country.persons:*', 'no se'],
      ['nobody there', 'persons:*', ''],
    ]
    for (const [tenant, text, ids] of rows) expect(await ask(countries, tenant, text), text).to.equal(ids)
  })

  it('lead from a public List to nothing that needs an identity', async () => {
    expect(await ask(countries, '', 'title = "Norway"')).to.equal('no')
    expect(await ask(countries, '', 'persons:*')).to.match(/unknown field "persons"/)
    decision = { where: filter`title != ${'Person eve'}` }
    expect(await ask(countries, 'globex', 'persons:*')).to.equal('se')
  })
})
