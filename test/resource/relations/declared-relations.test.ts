import { expect } from 'chai'
import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm'
import { Resource, TenantScoped } from '../../../decorators/index.js'
import { DeclarationError } from '../../../lib/errors.js'
import { isOwning } from '../../../lib/resource/relations/relation.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { problemsOf } from '../typeorm/declarations.js'
import { Charter, Chore, Country, Venture } from './models.js'

type Declare = (prototype: object, entity: EntityClass<object>) => void

function choreWith(declare: Declare): EntityClass<object> {
  class Chore {}
  PrimaryColumn({ type: String })(Chore.prototype, 'id')
  declare(Chore.prototype, Chore)
  Entity('chores')(Chore)
  TenantScoped()(Chore)
  Resource()(Chore)
  return Chore
}

const relationOf = (entity: EntityClass<object>, property: string) => {
  const relation = resourceModel(entity).relations.find((one) => one.property === property)
  if (relation === undefined || !isOwning(relation)) throw new TypeError(`no reference ${property}`)
  return relation
}

describe('the relations of a resource', () => {
  it('are none for most', () => {
    expect(resourceModel(Country).relations).to.deep.equal([])
  })

  it('refer by a property of the entity', () => {
    const venture = relationOf(Chore, 'venture')
    expect(venture).to.include({
      kind: 'many-to-one',
      inverse: 'chores',
      onDelete: 'cascade',
      isHidden: false,
    })
    expect(venture.target()).to.equal(Venture)
    expect(venture.reference).to.equal(resourceModel(Chore).byProperty.get('ventureId'))
  })

  it('refer by a field of their own, where the entity has no property for it', () => {
    const after = relationOf(Chore, 'after')
    expect(after).to.include({ isHidden: true, onDelete: 'set null', inverse: undefined })
    expect(after.reference).to.include({
      property: 'afterId',
      proto: 'after_id',
      column: 'after_id',
      kind: 'string',
      nullable: true,
      writable: true,
    })
    expect(resourceModel(Chore).byProto.get('after_id')).to.equal(after.reference)
    expect(relationOf(Charter, 'venture').reference).to.include({ property: 'ventureId', nullable: false })
  })

  it('find the property without @JoinColumn()', () => {
    expect(relationOf(Venture, 'country')).to.include({ isHidden: false, onDelete: 'restrict' })
  })

  it('know the other side', () => {
    const [chores, charter] = resourceModel(Venture).relations
    expect(chores).to.include({ property: 'chores', kind: 'one-to-many', inverse: 'venture' })
    expect(charter).to.include({ property: 'charter', kind: 'one-to-one-inverse', inverse: 'venture' })
    expect(charter?.target()).to.equal(Charter)
  })

  it('are unique where they are one-to-one', () => {
    const model = resourceModel(Charter)
    expect(model.uniques).to.deep.equal([{ fields: [model.byProperty.get('ventureId')], name: undefined }])
  })

  it('can be named by @Index()', () => {
    const model = resourceModel(
      choreWith((prototype, entity) => {
        ManyToOne(() => Venture)(prototype, 'venture')
        Index(['venture', 'id'])(entity)
      }),
    )
    expect(model.indexes.map(({ fields }) => fields.map(({ column }) => column))).to.deep.equal([
      ['venture_id', 'id'],
    ])
  })

  it('take the column that @JoinColumn() names', () => {
    const entity = choreWith((prototype) => {
      Column({ type: String, name: 'belongs_to' })(prototype, 'owner')
      ManyToOne(() => Venture)(prototype, 'venture')
      JoinColumn([
        { name: 'account_id', referencedColumnName: 'accountId' },
        { name: 'belongs_to', referencedColumnName: 'id' },
      ])(prototype, 'venture')
    })
    expect(relationOf(entity, 'venture').reference.property).to.equal('owner')
  })

  it('find a target by the name of its class and of its table', () => {
    for (const name of ['Venture', 'ventures']) {
      const entity = choreWith((prototype) => ManyToOne(name)(prototype, 'venture'))
      expect(relationOf(entity, 'venture').target()).to.equal(Venture)
    }
    const unknown = choreWith((prototype) => ManyToOne('Vengeance')(prototype, 'venture'))
    expect(() => relationOf(unknown, 'venture').target()).to.throw(
      DeclarationError,
      'venture: no entity and no table is named "Vengeance": name the class, as in () => Project',
    )
  })

  it('say that their target is not loaded', () => {
    const entity = choreWith((prototype) => ManyToOne(() => undefined as never)(prototype, 'venture'))
    expect(() => relationOf(entity, 'venture').target()).to.throw(
      DeclarationError,
      'venture: its target is not loaded yet',
    )
  })

  const refused: readonly (readonly [what: string, declare: Declare, problem: string])[] = [
    [
      'a set-null reference that is required',
      (prototype) => {
        Column({ type: String })(prototype, 'ventureId')
        ManyToOne(() => Venture, { onDelete: 'SET NULL' })(prototype, 'venture')
      },
      "venture: onDelete: 'SET NULL' needs a nullable reference: make ventureId nullable, or write 'RESTRICT' or 'CASCADE'",
    ],
    [
      'a set-null reference of its own that is required',
      (prototype) =>
        ManyToOne(() => Venture, { onDelete: 'SET NULL', nullable: false })(prototype, 'venture'),
      "venture: onDelete: 'SET NULL' needs a nullable reference: remove nullable: false, or write 'RESTRICT' or 'CASCADE'",
    ],
    [
      "onDelete: 'DEFAULT'",
      (prototype) => ManyToOne(() => Venture, { onDelete: 'DEFAULT' })(prototype, 'venture'),
      'venture: the relation option onDelete is "DEFAULT"; valid: RESTRICT, CASCADE, SET NULL, NO ACTION',
    ],
    [
      'an onDelete that is misspelt',
      (prototype) => ManyToOne(() => Venture, { onDelete: 'CASCADES' as 'CASCADE' })(prototype, 'venture'),
      'venture: the relation option onDelete is "CASCADES"; did you mean CASCADE?',
    ],
    [
      'an option that is misspelt',
      (prototype) => ManyToOne(() => Venture, { nulable: false } as object)(prototype, 'venture'),
      'venture: the relation option nulable: false is not supported: did you mean nullable?',
    ],
    [
      'a nullable that is neither true nor false',
      (prototype) => ManyToOne(() => Venture, { nullable: 'no' as never })(prototype, 'venture'),
      'venture: the relation option nullable is "no"; valid: true, false',
    ],
    [
      'a nullable that the property contradicts',
      (prototype) => {
        Column({ type: String })(prototype, 'ventureId')
        ManyToOne(() => Venture, { nullable: true })(prototype, 'venture')
      },
      'venture: nullable: true contradicts ventureId, which is not nullable: remove it from the relation',
    ],
    [
      'a reference that cannot be a key',
      (prototype) => {
        Column({ type: 'double precision' })(prototype, 'ventureId')
        ManyToOne(() => Venture)(prototype, 'venture')
      },
      'venture: ventureId is double: a reference holds the key of the other resource, which is a string, a uuid or an integer',
    ],
    [
      'a property of the reference that is stored elsewhere',
      (prototype) => {
        Column({ type: String, name: 'owner' })(prototype, 'ventureId')
        ManyToOne(() => Venture)(prototype, 'venture')
      },
      'venture: its reference would be venture_id, where ventureId is already stored (owner): write @JoinColumn({ name: "owner" })',
    ],
    [
      'the key as the reference of many',
      (prototype) => {
        ManyToOne(() => Venture)(prototype, 'venture')
        JoinColumn({ name: 'id' })(prototype, 'venture')
      },
      'venture: id is the key, so at most one entity could have the reference: write @OneToOne()',
    ],
    [
      'two columns',
      (prototype) => {
        ManyToOne(() => Venture)(prototype, 'venture')
        JoinColumn([
          { name: 'a', referencedColumnName: 'id' },
          { name: 'b', referencedColumnName: 'title' },
        ])(prototype, 'venture')
      },
      'venture: @JoinColumn() must name one column, which holds the key of the other resource: the framework adds the tenant',
    ],
    [
      'a tenant of its own',
      (prototype) => {
        Column({ type: String, name: 'other_account' })(prototype, 'other')
        ManyToOne(() => Venture)(prototype, 'venture')
        JoinColumn([
          { name: 'other_account', referencedColumnName: 'accountId' },
          { name: 'venture_id', referencedColumnName: 'id' },
        ])(prototype, 'venture')
      },
      "venture: @JoinColumn() takes the tenant from other_account: write name: 'account_id' there",
    ],
    [
      'a relation that is a column',
      (prototype) => {
        Column({ type: String })(prototype, 'venture')
        ManyToOne(() => Venture)(prototype, 'venture')
      },
      'venture is a relation and a column: keep the relation, and give the key of the other resource its own property, such as ventureId',
    ],
  ]
  for (const [what, declare, problem] of refused)
    it(`are refused with ${what}`, () => {
      expect(problemsOf(choreWith(declare))).to.include(problem)
    })
})
