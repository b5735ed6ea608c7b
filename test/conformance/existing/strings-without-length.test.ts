import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { InvalidArgument } from '../../../lib/errors.js'
import { schemaComparison } from '../../../lib/persistence/comparison/schema-comparison.js'
import { filter } from '../../../lib/persistence/query/filter-template.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { liveSchemaOf } from '../../persistence/comparison/live-schema.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

@Resource({ existing: true })
@Entity('links')
@TenantScoped()
class Link {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column() url!: string
  accountId!: string
}

describeOn('a string of an existing table whose length nothing states', databases, (backend) => {
  const isMysql = backend.name === 'mariadb' || backend.name === 'mysql8'
  const length = isMysql ? 255 : 2000

  it('takes what its column takes, and is filtered, sorted and paged', async () => {
    const { dataSource, close } = await backend.open([Link])
    try {
      const text = (size: number) =>
        isMysql ? `varchar(${size}) COLLATE utf8mb4_nopad_bin NOT NULL` : `varchar(${size}) NOT NULL`
      const url = isMysql ? text(255) : 'varchar NOT NULL'
      await dataSource!.query(
        `CREATE TABLE links (id ${text(40)} PRIMARY KEY, account_id ${text(255)}, url ${url})`,
      )
      await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
        const links = new (repositoryOf(Link))(dataSource!)
        const urls = ['a', 'b', 'c', 'd'].map((end) => 'x'.repeat(length - 1) + end)
        for (const [at, one] of urls.entries()) await links.create({ id: `l${at}`, url: one })
        const { items } = await links.list({}, { under: filter`url = ${urls[2]!}` })
        expect(items.map(({ id }) => id)).to.deep.equal(['l2'])
        const found: string[] = []
        for (let pageToken = ''; ;) {
          const page = await links.list({ orderBy: 'url', pageSize: 1, pageToken })
          found.push(...page.items.map(({ id }) => id))
          if ((pageToken = page.nextPageToken) === '') break
        }
        expect(found).to.deep.equal(['l0', 'l1', 'l2', 'l3'])
        expect((await links.update('l0', { url: `${urls[1]}` }, ['url'])).url).to.equal(urls[1])
        const tooLong = links.create({ id: 'long', url: 'x'.repeat(length + 1) })
        if (isMysql) await rejection(tooLong, InvalidArgument)
        else expect((await tooLong).url).to.have.lengthOf(length + 1)
      })
      if (backend.name === 'sqlite') return
      const differences = await schemaComparison([Link])(liveSchemaOf(dataSource!))
      expect(differences.filter(({ column }) => column === 'url')).to.deep.equal([])
    } finally {
      await close()
    }
  })
})
