import { expect } from 'chai'
import type { Message } from '@bufbuild/protobuf'
import { RequestContext } from '../../../lib/context.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { ServerBuilder } from '../../../lib/server/server-builder.js'
import { securityCheck, type SecurityReport } from '../../../lib/testing/index.js'
import type { Choice } from '../../conformance/forms/form-choices.js'
import { formed, type Formed, type Loose } from '../../conformance/forms/form-entities.js'
import { openForms, type OpenForms, Trial } from '../../conformance/forms/open-forms.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { drilling } from '../../support/drill.js'
import { tenantsOf } from '../../../lib/testing/security/world/tenants.js'
import { rejection } from '../../support/rejection.js'

const PLAIN: Choice = {
  ...{ naming: 'snake', table: 'new', tenant: 'text', key: 'text', children: 'none', deletes: 'softly' },
  ...{ isRenamed: false, hasInternals: false, hasNulls: false, hasTrigger: false },
  ...{ emits: false, searches: false, hasSecrets: false },
}

/** What people bring, each with another type of tenants. */
const FORMS: readonly Formed[] = (
  [
    { tenant: 'uuid', naming: 'typeorm', isRenamed: true, hasSecrets: true },
    { tenant: 'int', table: 'existing, keyed by id', hasNulls: true, emits: true, children: 'cascade' },
    { tenant: 'bigint', key: 'uuid', hasInternals: true, deletes: 'for good' },
    { tenant: 'text', table: 'existing, keyed by tenant and id', naming: 'strategy', hasTrigger: true },
    { tenant: 'relation', table: 'existing, keyed by id', isRenamed: true, children: 'restrict' },
  ] as const
).map((choice, at) => formed({ ...PLAIN, ...choice }, 900 + at))

const everywhere = <T>(fn: () => Promise<T>): Promise<T> => RequestContext.asSystem({ reason: 'a hole' }, fn)

/** Functions that reach rows of every tenant, by the method that each of them is. */
const holesIn = ({ items, formed: { service } }: Trial) => {
  const message = (item: Loose) => items.model.toMessage<Message>(item)
  return {
    getTask: async ({ id }: { id: never }) =>
      message(await everywhere(() => items.get(items.model.keys.keyOf(String(id)) as never))),
    listTasks: async () => ({
      tasks: (await everywhere(() => items.list({ pageSize: 1000 }))).items.map(message),
    }),
    deleteTask: async ({ id }: { id: never }) => {
      await everywhere(() => items.delete(items.model.keys.keyOf(String(id)) as never))
      return {}
    },
    batchGetTasks: async ({ ids }: { ids: readonly never[] }) => ({
      tasks: (await everywhere(() => items.batchGet(ids))).map(message),
    }),
  } satisfies Partial<Record<keyof typeof service.method, unknown>>
}

const found = ({ findings }: SecurityReport): readonly string[] => [
  ...new Set(findings.map(({ check, method }) => `${check} ${method.split('/').at(-1)}`)),
]

/** What a server is asked is the same on each backend, and costs seconds: `npm test` asks one in memory. */
const FEW = [2]
const asked = backends.filter(({ name }) => drilling || name === 'memory')

describeOn('securityCheck of what people bring', asked, (backend) => {
  const isKnown = ({ choice }: Formed, at: number) =>
    (drilling || FEW.includes(at)) && !(backend.name === 'memory' && choice.hasTrigger)
  const known = FORMS.filter(isKnown)
  for (const one of known)
    describe(one.name, () => {
      let opened: OpenForms
      let trial: Trial

      before(async () => {
        opened = await openForms(backend, [one])
        trial = new Trial(one, opened)
        await trial.clear()
        if (!trial.hasOrphans) return
        // A row that is nobody's.
        const nobodys = await trial.asOurs(() => trial.make('nobody'))
        await trial.orphan(trial.items, trial.keyOf(nobodys))
      })
      after(() => opened?.close())

      const check = (implementation: object = {}, tenants = given()) =>
        securityCheck(new ServerBuilder().register(one.service, trial.items as never, implementation), {
          ...(tenants && { tenants }),
        })
      /** A foreign key needs the rows of the tenants. */
      const given = () => (trial.orgs === undefined ? undefined : trial.tenants)

      it('finds nothing wrong', async () => {
        const { findings, notChecked, calls } = await check()
        expect(findings).to.deep.equal([])
        expect(calls).to.be.above(100)
        const keyedAlone = trial.items.model.tenantInKey ? [] : ['CreateTask']
        expect([...new Set(notChecked.map(({ method }) => method.split('/').at(-1)))]).to.deep.equal(
          keyedAlone,
        )
      })

      it('finds the holes of functions that reach every tenant', async () => {
        expect(found(await check(holesIn(trial)))).to.include.members([
          ...['isolation GetTask', 'isolation ListTasks', 'isolation DeleteTask', 'isolation BatchGetTasks'],
        ])
      })

      it('refuses tenants that no row has', async () => {
        const [ours] = trial.tenants
        const said = (tenants: readonly [string, string]) =>
          rejection(check({}, tenants), TypeError, 'tenants: ')
        await said([ours, ours])
        if (one.choice.tenant !== 'text') await said([ours, 'Acme'])
      })

      it('says that it needs tenants that are there', async () => {
        if (trial.orgs === undefined || trial.dataSource === undefined) return
        const builder = new ServerBuilder().register(one.service, trial.items as never)
        const { findings } = await securityCheck(builder)
        expect(findings[0]).to.deep.include({ check: 'unchecked' })
        expect(findings[0]?.text).to.include('give `tenants`')
      })
    })
})

describe('securityCheck of resources whose tenants have no type in common', () => {
  const subjectOf = ({ Item }: Formed) => ({ repository: { model: resourceModel(Item) } }) as never
  const [uuids, ints, bigints, texts] = FORMS.map(subjectOf) as [never, never, never, never]

  it('makes up tenants that all of them can have, and says where there is none', () => {
    for (const subjects of [[uuids, texts], [ints, bigints, texts], [texts], []]) {
      const { two, another } = tenantsOf(subjects, undefined)
      expect(new Set([...two, another('other-')]).size).to.equal(3)
    }
    expect(() => tenantsOf([uuids, ints], undefined)).to.throw(TypeError, /AnyItem.*uuid.*AnyItem.*int/)
  })
})
