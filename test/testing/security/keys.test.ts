import { expect } from 'chai'
import type { DescMessage, DescService } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import {
  Column,
  type ColumnOptions,
  type DataSource,
  Entity,
  JoinColumn,
  ManyToOne,
  PrimaryColumn,
  PrimaryGeneratedColumn,
} from 'typeorm'
import { ETag, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { MemoryDatabase } from '../../../lib/persistence/memory/memory-database.js'
import { memoryRepositoryOf, repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { ServerBuilder } from '../../../lib/server/index.js'
import { securityCheck } from '../../../lib/testing/index.js'
import { declareKey } from '../../conformance/keys/key-types.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { backends, describeOn, type OpenBackend } from '../../support/databases/backends.js'
import { drilling } from '../../support/drill.js'
import { PaymentService } from '../../support/gen/bills_pb.js'
import { TaskService } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'

interface CheckedKey {
  readonly name: string
  readonly column: ColumnOptions
  readonly design: unknown
  readonly wire: Type
  readonly isMinted?: true
}

const [TEXT, INT32, INT64] = [Type.STRING, Type.INT32, Type.INT64]

const KEYS: readonly CheckedKey[] = [
  { name: 'a bigint as an int64', column: { type: 'bigint' }, design: BigInt, wire: INT64 },
  { name: 'a minted int', column: { type: 'int' }, design: Number, wire: INT32, isMinted: true },
  { name: 'a minted bigint', column: { type: 'bigint' }, design: BigInt, wire: INT64, isMinted: true },
  { name: 'a uuid', column: { type: 'uuid' }, design: String, wire: TEXT },
  { name: 'a date', column: { type: 'date' }, design: String, wire: TEXT },
  { name: 'an int', column: { type: 'int' }, design: Number, wire: INT32 },
  { name: 'a smallint as a string', column: { type: 'smallint' }, design: Number, wire: TEXT },
  { name: 'a bigint as a string', column: { type: 'bigint' }, design: BigInt, wire: TEXT },
  { name: 'digits of a bigint', column: { type: 'bigint' }, design: String, wire: INT64 },
  { name: 'a uuid in 16 bytes', column: { type: 'binary', length: 16 }, design: String, wire: TEXT },
  { name: 'a short text', column: { type: 'varchar', length: 3 }, design: String, wire: TEXT },
  {
    name: 'a minted number as a string',
    column: { type: 'bigint' },
    design: String,
    wire: TEXT,
    isMinted: true,
  },
]

interface Task {
  id: never
  title: string
}

/** A service of tasks whose keys are of the type, with a method of its own. */
const serviceOf = ({ wire }: CheckedKey) =>
  altered(TaskService, (proto) => {
    const owners = ['Task', 'GetTaskRequest', 'DeleteTaskRequest', 'UndeleteTaskRequest', 'PlanTaskRequest']
    for (const owner of owners)
      for (const field of proto.message(owner).field)
        if (['id', 'after_id'].includes(field.name)) field.type = wire
    for (const field of proto.message('BatchGetTasksRequest').field)
      if (field.name === 'ids') field.type = wire
    for (const field of ['project_id', 'project', 'lead_id', 'lead', 'after'])
      proto.removeField('Task', field)
    for (const one of proto.file.service)
      one.method = one.method.filter((method) => method.name !== 'WatchTasks')
  })

function entityOf({ column, design, isMinted }: CheckedKey, message: DescMessage): EntityClass<Task> {
  @Entity('checked_tasks')
  @TenantScoped()
  @SoftDeletable()
  class CheckedTask implements Task {
    id!: never
    accountId!: string
    @Column() title!: string
    afterId?: never
    @ManyToOne(() => CheckedTask) @JoinColumn({ name: 'after_id' }) after?: CheckedTask
    @ETag() etag!: string
    deleteTime?: Date
  }
  const key = isMinted === true ? PrimaryGeneratedColumn(column as never) : PrimaryColumn(column as never)
  declareKey(CheckedTask, 'id', design, key)
  declareKey(CheckedTask, 'afterId', design, Column({ ...column, nullable: true } as never))
  Resource({ message, type: 'task' })(CheckedTask)
  return CheckedTask
}

const repositoryFor = (entity: EntityClass<Task>, dataSource: DataSource | undefined) =>
  dataSource === undefined ? new (memoryRepositoryOf(entity))() : new (repositoryOf(entity))(dataSource)

/** What was found, without texts. */
const foundBy = async (builder: ServerBuilder) => {
  const report = await securityCheck(builder)
  const found = report.findings.map(({ check, method }) => `${check} ${method.split('/').at(-1)}`)
  return { ...report, found: [...new Set(found)] }
}

/** In `npm test` the backends share the types, each of which costs a check. */
const keysOn = (backend: string): readonly CheckedKey[] => {
  if (drilling) return KEYS
  if (backend === 'memory') return KEYS.slice(2, 5)
  return backend === 'sqlite' ? KEYS.slice(1, 2) : KEYS.slice(0, 1)
}

describeOn('securityCheck of keys', backends, (backend) => {
  for (const type of keysOn(backend.name))
    it(`finds nothing wrong where a key is ${type.name}, and leaves nothing unchecked`, async () => {
      const service = serviceOf(type)
      const entity = entityOf(type, service.method.getTask.output)
      const { dataSource, database, close }: OpenBackend = await backend.open([entity])
      try {
        if (dataSource !== undefined && database !== undefined)
          await createTables(collated(dataSource, backend), [entity], database.dialect.name)
        const tasks = repositoryFor(entity, dataSource)
        const planTask = async ({ id }: { readonly id: string | number | bigint }) => {
          const key = tasks.model.keys.keyOf(String(id)) ?? id
          return { task: tasks.model.toMessage(await tasks.get(key as never)) }
        }
        const authorizer = { decidesByRow: true, authorize: () => false } as const
        const builder = new ServerBuilder({ authorizer }).register(
          service,
          tasks as never,
          { planTask } as never,
        )
        const { findings, notChecked } = await securityCheck(builder)
        expect(findings).to.deep.equal([])
        expect(notChecked.map(({ method }) => method.split('/').at(-1))).to.deep.equal(['PlanTask'])
      } finally {
        await close()
      }
    })
})

describe('securityCheck of keys', () => {
  const types = KEYS.filter(({ wire }) => drilling || wire === INT64).filter((type) => type.design !== String)
  for (const type of types)
    it(`finds the holes of a service whose key is ${type.name}`, async () => {
      const service = serviceOf(type)
      const tasks = repositoryFor(entityOf(type, service.method.getTask.output), undefined)
      const { model } = tasks
      const inTenant = <T>(tenant: string, fn: () => Promise<T>) =>
        RequestContext.as({ tenant, subject: 'anybody' }, fn)
      const made = new Map<string, string>()
      /** Whatever tenant the caller is of. */
      const anybodys = async (id: unknown) => {
        const text = String(id)
        const tenant = made.get(text) ?? RequestContext.current().principal?.tenant ?? ''
        const key = model.keys.keyOf(text) ?? text
        return model.toMessage(await inTenant(tenant, () => tasks.get(key as never)))
      }
      const leaky = {
        createTask: async ({ task }: { readonly task: never }) => {
          const row = await tasks.create(model.fromMessage(task))
          made.set(model.keys.textOf(row), RequestContext.current().principal?.tenant ?? '')
          return model.toMessage(row)
        },
        getTask: ({ id }: { readonly id: unknown }) => anybodys(id),
        batchGetTasks: async ({ ids }: { readonly ids: readonly unknown[] }) => ({
          tasks: await Promise.all(ids.map(anybodys)),
        }),
        planTask: async ({ id }: { readonly id: unknown }) => ({ task: await anybodys(id) }),
      }
      const { found } = await foundBy(new ServerBuilder().register(service, tasks as never, leaky as never))
      expect(found).to.include.members(['isolation GetTask', 'isolation BatchGetTasks', 'isolation PlanTask'])
    })
})

/** Keys of a parent and of what is in it, which are parts of names. */
const NAMES: readonly (readonly [parent: number, child: number])[] = [
  [2, 3],
  [5, 1],
]

describe('securityCheck of names', () => {
  for (const [above, below] of NAMES) {
    const [parent, child] = [KEYS[above], KEYS[below]] as [CheckedKey, CheckedKey]
    it(`finds nothing wrong where their keys are ${parent.name} and ${child.name}`, async () => {
      const payments = altered(PaymentService, (proto) => {
        for (const one of proto.file.service)
          one.method = one.method.filter(({ name }) => /^(Get|Create)/.test(name))
      })
      const invoices = payments.file.services.find(({ name }) => name === 'InvoiceService') as DescService
      @Entity('checked_invoices')
      @TenantScoped()
      class CheckedInvoice {
        id!: never
        accountId!: string
        @Column() title!: string
        @Column('bigint') amount!: bigint
      }
      @Entity('checked_payments')
      @TenantScoped()
      class CheckedPayment {
        id!: never
        accountId!: string
        invoiceId!: never
        @ManyToOne(() => CheckedInvoice) @JoinColumn({ name: 'invoice_id' }) invoice?: CheckedInvoice
        @Column() title!: string
        @Column('bigint') amount!: bigint
      }
      for (const [entity, { column, design, isMinted }] of [
        [CheckedInvoice, parent],
        [CheckedPayment, child],
      ] as const)
        declareKey(
          entity,
          'id',
          design,
          isMinted === true ? PrimaryGeneratedColumn(column as never) : PrimaryColumn(column as never),
        )
      declareKey(CheckedPayment, 'invoiceId', parent.design, Column(parent.column))
      Resource({ message: invoices.method['getInvoice']!.output, type: 'invoice' })(CheckedInvoice)
      Resource({ message: payments.method.getPayment.output, type: 'payment' })(CheckedPayment)
      const authorizer = { decidesByRow: true, authorize: () => false } as const
      const database = new MemoryDatabase()
      const builder = new ServerBuilder({ authorizer })
        .register(invoices, new (memoryRepositoryOf(CheckedInvoice))({ database }) as never, {} as never)
        .register(payments, new (memoryRepositoryOf(CheckedPayment))({ database }) as never, {} as never)
      expect(await securityCheck(builder)).to.deep.include({ findings: [], notChecked: [] })
    })
  }
})
