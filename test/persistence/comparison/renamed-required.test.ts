import { expect } from 'chai'
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { RenamedFrom, Resource, TenantScoped } from '../../../decorators/index.js'
import { migrate } from '../../../lib/migrations/index.js'
import { schemaModel } from '../../../lib/persistence/comparison/schema-model.js'
import { onEachEngine } from '../../migrations/each-engine.js'

@Resource()
@Entity('parents')
@TenantScoped()
class Parent {
  @PrimaryColumn({ length: 40 }) id!: string
  accountId!: string
}

@Resource()
@Entity('children')
@TenantScoped()
class Child {
  @PrimaryColumn({ length: 40 }) id!: string
  accountId!: string
  @Column({ length: 40 }) parentId!: string
  @ManyToOne(() => Parent) @JoinColumn({ name: 'parent_id' }) parent?: Parent
  @Column('date') day!: string
}

@Resource()
@Entity('children')
@TenantScoped()
class RenamedChild {
  @PrimaryColumn({ length: 40 }) id!: string
  accountId!: string
  @RenamedFrom('parent_id') @Column({ length: 40 }) ownerId!: string
  @ManyToOne(() => Parent) @JoinColumn({ name: 'owner_id' }) owner?: Parent
  @RenamedFrom('day') @Column('date') dueDay!: string
}

onEachEngine('a required column that has another name', (database) => {
  it('has the values of its rows after the down migration', async () => {
    const files: Record<string, string> = {}
    const migrator = () => migrate({ url: database().url, files })
    const apply = async (step: 'expand' | 'contract', ...entities: readonly unknown[]) => {
      const { changes } = await migrator().diff(schemaModel(entities))
      for (const { what, up, down } of changes[step]) {
        const name = `${String(Object.keys(files).length / 2 + 2).padStart(4, '0')}_${what}`
        Object.assign(files, { [`${name}.up.sql`]: up, [`${name}.down.sql`]: down })
      }
      await migrator().up()
      return Object.keys(files).length / 2 + 1
    }
    const first = await apply('expand', Parent, Child)
    await database().rows(`INSERT INTO parents (id, account_id) VALUES ('p', 'acme')`)
    await database().rows(
      `INSERT INTO children (id, account_id, parent_id, day) VALUES ('c', 'acme', 'p', '2026-01-02')`,
    )
    const expanded = await apply('expand', Parent, RenamedChild)
    await apply('contract', Parent, RenamedChild)
    await migrator().down(expanded)
    const old = `SELECT id FROM children WHERE parent_id = 'p' AND day = '2026-01-02'`
    expect(await database().rows(old)).to.have.length(1)
    await migrator().down(first)
    expect(await database().rows(old)).to.have.length(1)
    const optional = await database().rows(
      `SELECT column_name FROM information_schema.columns WHERE table_name = 'children' AND is_nullable = 'YES'`,
    )
    expect(optional).to.deep.equal([])
  })
})
