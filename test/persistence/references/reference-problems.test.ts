import { expect } from 'chai'
import {
  Column,
  type DataSource,
  Entity,
  getMetadataArgsStorage,
  JoinColumn,
  ManyToOne,
  OneToOne,
  PrimaryColumn,
} from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { RequestContext } from '../../../lib/context.js'
import { DeclarationError } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { collated } from '../../conformance/repository/open-subject.js'
import { Project, RELATED, Task } from '../../conformance/relations/projects.js'
import { databases, describeOn } from '../../support/databases/backends.js'
import { rejection } from '../../support/rejection.js'

@Resource()
@Entity('owners')
@TenantScoped()
class Owner {
  @PrimaryColumn() id!: string
  accountId!: string
}

type Spell = (prototype: object) => void

/** Every way to write the reference of a pet to its owner. */
const SPELLINGS: Readonly<Record<string, Spell>> = {
  'no @JoinColumn()': (pet) => ManyToOne(() => Owner)(pet, 'owner'),
  '@JoinColumn()': (pet) => {
    ManyToOne(() => Owner)(pet, 'owner')
    JoinColumn()(pet, 'owner')
  },
  '@JoinColumn() with a name': (pet) => {
    ManyToOne(() => Owner)(pet, 'owner')
    JoinColumn({ name: 'owner_id' })(pet, 'owner')
  },
  '@JoinColumn() with the key': (pet) => {
    ManyToOne(() => Owner)(pet, 'owner')
    JoinColumn({ referencedColumnName: 'id' })(pet, 'owner')
  },
  '@JoinColumn() with both': (pet) => {
    ManyToOne(() => Owner)(pet, 'owner')
    JoinColumn({ name: 'owner_id', referencedColumnName: 'id' })(pet, 'owner')
  },
  '@JoinColumn() of a list': (pet) => {
    ManyToOne(() => Owner)(pet, 'owner')
    JoinColumn([{ name: 'owner_id' }])(pet, 'owner')
  },
  '@JoinColumn() of tenant and key': (pet) => {
    ManyToOne(() => Owner)(pet, 'owner')
    JoinColumn([
      { name: 'account_id', referencedColumnName: 'accountId' },
      { name: 'owner_id', referencedColumnName: 'id' },
    ])(pet, 'owner')
  },
  '@OneToOne()': (pet) => {
    OneToOne(() => Owner)(pet, 'owner')
    JoinColumn()(pet, 'owner')
  },
}

function petWith(spell: Spell, hasProperty: boolean): EntityClass<{ id: string; accountId: string }> {
  class Pet {
    id!: string
    accountId!: string
  }
  PrimaryColumn({ type: String })(Pet.prototype, 'id')
  if (hasProperty) Column({ type: String, nullable: true })(Pet.prototype, 'ownerId')
  spell(Pet.prototype)
  Entity('pets')(Pet)
  TenantScoped()(Pet)
  Resource()(Pet)
  return Pet
}

const keysOf = (dataSource: DataSource, entity: EntityClass<object>) =>
  dataSource
    .getMetadata(entity)
    .foreignKeys.map(({ columnNames, referencedColumnNames }) =>
      columnNames.map((name, at) => `${name} → ${referencedColumnNames[at]}`).sort(),
    )

describeOn('a reference that TypeORM knows', databases, (backend) => {
  for (const [name, spell] of Object.entries(SPELLINGS))
    for (const hasProperty of [true, false])
      it(`is to tenant and key: ${name}, ${hasProperty ? 'with' : 'without'} a property`, async () => {
        const Pet = petWith(spell, hasProperty)
        const { dataSource, close } = await backend.open([Owner, Pet])
        try {
          expect(keysOf(dataSource as DataSource, Pet)).to.deep.equal([
            ['account_id → account_id', 'owner_id → id'],
          ])
          const repository = new (repositoryOf(Pet))(dataSource as DataSource)
          expect((await repository.startUpCheck()).problems).to.deep.equal([])
        } finally {
          await close()
        }
      })

  it('is joined by both', async () => {
    const { dataSource: opened, database, close } = await backend.open(RELATED)
    const dataSource = opened as DataSource
    try {
      await createTables(collated(dataSource, backend), RELATED, database!.dialect.name)
      await RequestContext.as({ tenant: 'acme', subject: 'ada' }, async () => {
        await new (repositoryOf(Project))(dataSource).create({ id: 'p', title: 'one' })
        await new (repositoryOf(Task))(dataSource).create({ id: 't', projectId: 'p' })
      })
      const sql = dataSource
        .getRepository(Task)
        .createQueryBuilder('task')
        .leftJoinAndSelect('task.project', 'project')
        .getQuery()
        .replaceAll(/["`]/g, '')
      const on = / ON (.*?)(?: WHERE|$)/.exec(sql)?.[1] ?? ''
      expect(on.replaceAll(/[()]/g, '').split(' AND ')).to.have.members([
        ...['project.account_id=task.account_id', 'project.id=task.project_id'],
      ])
      const [task] = await dataSource.manager.find(Task, { relations: { project: true } })
      expect(task).to.deep.include({ id: 't', projectId: 'p' })
      expect(task?.project).to.include({ id: 'p', title: 'one', accountId: 'acme' })
    } finally {
      await close()
    }
  })

  it('and that does not hold the tenant is refused with what to write', async () => {
    const Pet = petWith(SPELLINGS['@JoinColumn() with a name'] as Spell, true)
    // As where TypeORM is not told by our decorator what the target is.
    const relation = getMetadataArgsStorage().relations.find(({ target }) => target === Pet)
    Object.assign(relation!, { type: () => Owner })
    const { dataSource, close } = await backend.open([Owner, Pet])
    try {
      const repository = () => new (repositoryOf(Pet))(dataSource as DataSource)
      const error = (() => {
        try {
          repository()
        } catch (thrown) {
          return thrown
        }
        return undefined
      })()
      expect(error).to.be.instanceOf(DeclarationError)
      expect((error as DeclarationError).problems).to.have.length(1)
      expect((error as DeclarationError).problems[0]).to.match(
        /^owner: TypeORM joins Owner by \(.*\): write @JoinColumn\(\[\{ name: 'account_id', referencedColumnName: 'accountId' \}, \{ name: 'owner_id', referencedColumnName: 'id' \}\]\)$/,
      )
    } finally {
      await close()
    }
  })

  it('and whose target is not in the DataSource is refused', async () => {
    class Stranger {}
    PrimaryColumn({ type: String })(Stranger.prototype, 'id')
    Entity('strangers')(Stranger)
    const Pet = petWith((pet) => ManyToOne(() => Stranger)(pet, 'owner'), true)
    const start = async () => {
      const { dataSource, close } = await backend.open([Stranger, Pet])
      try {
        return new (repositoryOf(Pet))(dataSource as DataSource)
      } finally {
        await close()
      }
    }
    // Where the tables are made at once, that comes first.
    await rejection(
      start(),
      DeclarationError,
      /owner: Stranger is not a resource of the same database|^Stranger: .*it is not a resource/s,
    )
  })

  if (backend.name === 'sqlite' || backend.name === 'better-sqlite3')
    it('is said to have no foreign key where its table was there before', async () => {
      const Pet = petWith(SPELLINGS['@JoinColumn()'] as Spell, true)
      const { dataSource: opened, close } = await backend.open([Owner, Pet])
      const dataSource = opened as DataSource
      try {
        await dataSource.query('DROP TABLE IF EXISTS pets')
        await dataSource.query(
          'CREATE TABLE pets (id TEXT NOT NULL, account_id TEXT NOT NULL, PRIMARY KEY (account_id, id))',
        )
        await createTables(dataSource, [Owner, Pet], 'sqlite')
        const pets = new (repositoryOf(Pet))(dataSource)
        expect((await pets.startUpCheck()).warnings).to.deep.equal([
          'owner of Pet has no foreign key, because SQLite cannot add one to an existing table: only repositories keep it within its tenant; recreate the table to have one',
        ])
        await RequestContext.as({ tenant: 'acme', subject: 'ada' }, () =>
          rejection(pets.create({ id: 'a', ownerId: 'x' } as never), Error, /there is no such owner/),
        )
        await dataSource.query('DROP TABLE pets')
        await createTables(dataSource, [Owner, Pet], 'sqlite')
        expect((await pets.startUpCheck()).warnings).to.deep.equal([])
      } finally {
        await close()
      }
    })
})
