import { expect } from 'chai'
import {
  BeforeRecover,
  Column,
  type DataSource,
  Entity,
  ManyToOne,
  PrimaryColumn,
  type Relation,
} from 'typeorm'
import { Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { AshlarError } from '../../../lib/errors.js'
import type { UndeleteOptions } from '../../../lib/persistence/contract/repository.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { databases, describeOn, distributed, type OpenBackend } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

@Resource()
@Entity('doctors')
@TenantScoped()
@SoftDeletable()
class Doctor {
  @PrimaryColumn({ length: 63 }) id!: string
  accountId!: string
  deleteTime?: Date
}

/** What a test has the hook do. */
const hook: { run: ((visit: Visit) => Promise<void>) | undefined } = { run: undefined }

@Resource()
@Entity('visits')
@TenantScoped()
@SoftDeletable()
class Visit {
  @PrimaryColumn({ length: 63 }) id!: string
  @Column({ length: 63 }) doctorId!: string
  @ManyToOne(() => Doctor, { onDelete: 'CASCADE' }) doctor?: Relation<Doctor>
  @Column() patient!: string
  @Column() hour!: number
  accountId!: string
  deleteTime?: Date

  @BeforeRecover() check(): Promise<void> | undefined {
    return hook.run?.(this)
  }
}

class VisitRepository extends repositoryOf(Visit) {
  undeleted = 0

  override async undelete(id: string, options?: UndeleteOptions): Promise<Visit> {
    this.undeleted++
    return super.undelete(id, options)
  }

  /** @throws AshlarError for a second visit of the patient in that hour. */
  async checkFree({ id, patient, hour }: Visit): Promise<void> {
    const taken = filter`patient = ${patient} AND hour = ${hour} AND id != ${id}`
    if (await this.exists({}, { under: taken })) throw new AshlarError('FAILED_PRECONDITION', 'is taken')
  }
}

/** As the guide to business rules has it. */
class DoctorRepository extends repositoryOf(Doctor) {
  visits: VisitRepository | undefined

  override undelete(id: string, options?: UndeleteOptions): Promise<Doctor> {
    return this.transaction(async () => {
      const doctor = await super.undelete(id, options)
      const { items = [] } = (await this.visits?.list({}, { under: filter`doctor_id = ${id}` })) ?? {}
      for (const visit of items) await this.visits?.checkFree(visit)
      return doctor
    })
  }
}

const inAcme = <T>(fn: () => Promise<T>) => RequestContext.as({ tenant: 'acme', subject: 'ada' }, fn)

describeOn('a rule of what comes back with its parent', [...databases, ...distributed], (on) => {
  let backend: OpenBackend
  let visits: VisitRepository
  let doctors: DoctorRepository
  let round = 0

  before(async () => {
    backend = await on.open([Doctor, Visit])
    const dataSource = backend.dataSource as DataSource
    await createTables(collated(dataSource, on), [Doctor, Visit], backend.database!.dialect.name)
    await backend.distribute?.()
    visits = new VisitRepository(dataSource)
    doctors = new DoctorRepository(dataSource)
  })
  beforeEach(() => {
    hook.run = undefined
    doctors.visits = undefined
    visits.undeleted = 0
  })
  after(() => backend?.close())

  /** A deleted doctor whose visit cannot come back, because the patient is with another one. */
  const conflict = async () => {
    const [gone, other] = [`gone-${++round}`, `other-${round}`]
    const patient = `patient-${round}`
    for (const id of [gone, other]) await doctors.create({ id })
    await visits.create({ id: gone, doctorId: gone, patient, hour: 9 })
    await doctors.delete(gone)
    await visits.create({ id: other, doctorId: other, patient, hour: 9 })
    return gone
  }
  const isRefused = async (id: string) => {
    expect((await rejection(doctors.undelete(id), AshlarError)).message).to.equal('is taken')
    for (const repository of [doctors, visits])
      expect(await repository.exists({}, { under: filter`id = ${id}` })).to.equal(false)
  }

  it('is not asked in an overridden undelete of the child', () =>
    inAcme(async () => {
      const id = await conflict()
      await doctors.undelete(id)
      expect([(await visits.get(id)).hour, visits.undeleted]).to.deep.equal([9, 0])
    }))

  it('holds in an overridden undelete of the parent', () =>
    inAcme(async () => {
      const id = await conflict()
      doctors.visits = visits
      await isRefused(id)
    }))

  it('holds in @BeforeRecover of the child, also where the child itself is undeleted', () =>
    inAcme(async () => {
      const id = await conflict()
      hook.run = (visit) => visits.checkFree(visit)
      await isRefused(id)

      const single = await conflict()
      hook.run = undefined
      await doctors.undelete(single)
      await visits.delete(single)
      hook.run = (visit) => visits.checkFree(visit)
      expect((await rejection(visits.undelete(single), AshlarError)).message).to.equal('is taken')
    }))
})
