import { expect } from 'chai'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { RenamedFrom, Resource, TenantScoped } from '../../../decorators/index.js'
import { DeclarationError } from '../../../lib/errors.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'

/** The problems of a resource whose property `name` was renamed from another column. */
function problemsOf(from: unknown, options: { readonly existing?: boolean } = {}): readonly string[] {
  @Resource(options)
  @TenantScoped()
  @Entity('rooms')
  class Room {
    @PrimaryColumn() id!: string
    @Column() floor!: string
    @Column() @RenamedFrom(from as string) name!: string
    accountId!: string
  }
  try {
    resourceModel(Room)
    return []
  } catch (error) {
    if (error instanceof DeclarationError) return error.problems
    throw error
  }
}

describe('@RenamedFrom()', () => {
  it('takes a name that no property has as its column', () => {
    expect(problemsOf('title')).to.deep.equal([])
    expect(problemsOf('floor').join()).to.match(/^name: @RenamedFrom\("floor"\) names the column of floor\b/)
    for (const none of ['', undefined])
      expect(problemsOf(none).join()).to.match(/^name: @RenamedFrom\(\) takes the old name of the column/)
  })

  it('is rejected where no migration changes the table', () => {
    expect(problemsOf('title', { existing: true }).join()).to.match(
      /^name: @RenamedFrom\(\) renames no column of a table with existing: true\b/,
    )
  })
})
