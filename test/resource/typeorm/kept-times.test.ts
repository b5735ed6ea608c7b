import { expect } from 'chai'
import {
  Column,
  CreateDateColumn,
  Entity,
  getMetadataArgsStorage,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm'
import { CreateTime, Resource, UpdateTime } from '../../../decorators/index.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'

@Resource({ shared: true, existing: true, naming: 'typeorm' })
@Entity('visits')
class Visit {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @CreateTime() @CreateDateColumn() createdAt!: Date
  @UpdateDateColumn({ precision: 3 }) @UpdateTime() updatedAt!: Date
  @Column({ type: Date, precision: 0 }) seenAt!: Date
}

describe('times of a table that is there', () => {
  it('are set by repositories and by the manager of TypeORM, in either order of the decorators', () => {
    const { createTime, updateTime } = resourceModel(Visit)
    expect([createTime?.column, updateTime?.column]).to.deep.equal(['createdAt', 'updatedAt'])
    const modes = getMetadataArgsStorage()
      .columns.filter(({ target }) => target === Visit)
      .map(({ propertyName, mode }) => [propertyName, mode])
    expect(modes).to.deep.equal([
      ['id', 'regular'],
      ['title', 'regular'],
      ['createdAt', 'createDate'],
      ['updatedAt', 'updateDate'],
      ['seenAt', 'regular'],
    ])
  })
})
