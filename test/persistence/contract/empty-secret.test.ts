import { expect } from 'chai'
import { Column, type DataSource, Entity, PrimaryColumn } from 'typeorm'
import { Resource, Secret, TenantScoped } from '../../../decorators/index.js'
import { ErrNotFound } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { asTenant } from '../../conformance/repository/subject.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

@Resource()
@Entity('mailboxes')
@TenantScoped()
class Mailbox {
  @PrimaryColumn({ length: 64 }) id!: string
  @Column({ length: 64 }) title!: string
  @Secret() password?: Secret
  accountId!: string
}

describeOn('a column of a secret that holds an empty string', databases, (backend) => {
  it('holds no secret', async () => {
    const { dataSource, database, close } = await backend.open([Mailbox])
    try {
      await createTables(dataSource as DataSource, [Mailbox], database!.dialect.name)
      const mailboxes = new (repositoryOf(Mailbox))(dataSource as DataSource, {
        encryptor: newDev(Buffer.alloc(32, 7)),
      })
      await asTenant('acme', async () => {
        await mailboxes.create({ id: 'a', title: 'x', password: 'hunter22' as Secret })
        await dataSource!.query(`UPDATE mailboxes SET password_hash = '', password_cipher = ''`)
        expect(await mailboxes.revealPassword('a')).to.equal(undefined)
        await rejection(mailboxes.lookupByPasswordHash(''), ErrNotFound)
        expect((await mailboxes.rewrapSecrets()).unreadable).to.equal(0)
      })
    } finally {
      await close()
    }
  })
})
