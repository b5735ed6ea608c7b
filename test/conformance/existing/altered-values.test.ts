import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'
import { backends, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

@Resource({ existing: true })
@Entity('lamps')
@TenantScoped()
class Lamp {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ type: 'varchar', length: 20 }) state!: string
  @Column() isLit!: boolean
  accountId!: string
}

const TYPES = [
  [`enum('off', 'dim')`, 'tinyint(1)', 'state has the type enum, which sorts values by position'],
  [`set('off', 'dim')`, 'tinyint(1)', 'state has the type set, which sorts values by position'],
  ['varchar(20)', 'bit(1)', 'is_lit has the type bit, which is read as bytes by the driver'],
] as const

describeOn(
  'a column whose type alters values',
  backends.filter(({ name }) => name === 'mariadb'),
  (backend) => {
    for (const [state, isLit, problem] of TYPES)
      it(`is rejected at startup and by verify: ${state}, ${isLit}`, async () => {
        const { dataSource, close } = await backend.open([Lamp])
        try {
          const text = (length: number) => `varchar(${length}) COLLATE utf8mb4_nopad_bin NOT NULL`
          await dataSource!.query(
            `CREATE TABLE lamps (id ${text(40)} PRIMARY KEY, account_id ${text(255)}, state ${state} COLLATE utf8mb4_nopad_bin NOT NULL, is_lit ${isLit} NOT NULL)`,
          )
          const list = RequestContext.as({ tenant: 'acme', subject: 'ada' }, () =>
            new (repositoryOf(Lamp))(dataSource!).list(),
          )
          await rejection(list, DeclarationError, problem)
          const differences = await schemaComparison([Lamp])(liveSchemaOf(dataSource!))
          expect(differences.map(({ column }) => column)).to.have.lengthOf(1)
          expect(differences[0]?.text).to.contain(problem)
        } finally {
          await close()
        }
      })
  },
)
