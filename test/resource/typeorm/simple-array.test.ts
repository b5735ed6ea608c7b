import { expect } from 'chai'
import { Column, DefaultNamingStrategy, Entity, PrimaryColumn } from 'typeorm'
import { Internal, Resource } from '../../../decorators/index.js'
import type { ResourceNaming } from '../../../decorators/columns/column-naming.js'
import { problemsOf } from './declarations.js'

interface Kept {
  readonly existing?: boolean
  readonly naming?: ResourceNaming
}

const PROBLEM =
  "labels: a simple-array column of an existing table holds text with commas, and a repository would read and write JSON: convert the column to JSON in a migration and declare @Column('simple-json'); or add @Internal(), which leaves it to TypeORM"

const crateWith = (kept: Kept, isInternal = false) => {
  abstract class Labelled {
    @Column('simple-array', { nullable: true }) labels?: string[]
  }
  class Crate extends Labelled {
    @PrimaryColumn() id!: string
  }
  if (isInternal) Internal()(Labelled.prototype, 'labels')
  Entity('crates')(Crate)
  Resource({ shared: true, ...kept })(Crate)
  return Crate
}

describe('a simple-array column', () => {
  const kept: Readonly<Record<string, Kept>> = {
    'an existing table': { existing: true },
    "a table with TypeORM's naming": { naming: 'typeorm' },
    'a table with a naming strategy': { naming: new DefaultNamingStrategy() },
    "an existing table with TypeORM's naming": { existing: true, naming: 'typeorm' },
  }
  for (const [name, resource] of Object.entries(kept)) {
    it(`is a startup error in ${name}`, () => {
      expect(problemsOf(crateWith(resource))).to.deep.equal([PROBLEM])
    })

    it(`is accepted in ${name} with @Internal()`, () => {
      expect(problemsOf(crateWith(resource, true))).to.deep.equal([])
    })
  }
})
