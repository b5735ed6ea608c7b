import { expect } from 'chai'
import { Column, DefaultNamingStrategy, Entity, PrimaryColumn } from 'typeorm'
import { Internal, Resource } from '../../../decorators/index.js'
import type { ResourceNaming } from '../../../decorators/columns/column-naming.js'
import { DepositSchema } from '../../support/gen/specimens_pb.js'
import { problemsOf } from './declarations.js'

interface Kept {
  readonly existing?: boolean
  readonly naming?: ResourceNaming
}

const PROBLEM =
  "checks: a simple-array column of an existing table is a string with commas, which cannot hold the elements of this field: convert the column to JSON in a migration and declare @Column('simple-json'); or add @Internal(), so that Ashlar does not manage it"

/** Booleans have no text in JSON. */
const depositWith = (kept: Kept, isInternal: boolean) => {
  class Deposit {
    @PrimaryColumn() id!: string
    @Column('simple-array', { nullable: true }) checks?: boolean[]
  }
  if (isInternal) Internal()(Deposit.prototype, 'checks')
  Entity('deposits')(Deposit)
  Resource({ shared: true, message: DepositSchema, ...kept })(Deposit)
  return Deposit
}

describe('a simple-array column', () => {
  const kept: Readonly<Record<string, Kept>> = {
    'an existing table': { existing: true },
    "a table with TypeORM's naming": { naming: 'typeorm' },
    'a table with a naming strategy': { naming: new DefaultNamingStrategy() },
    "an existing table with TypeORM's naming": { existing: true, naming: 'typeorm' },
  }
  for (const [name, resource] of Object.entries(kept))
    it(`of booleans is a startup error in ${name} unless it is internal`, () => {
      expect(problemsOf(depositWith(resource, false))).to.include(PROBLEM)
      expect(problemsOf(depositWith(resource, true))).to.not.include(PROBLEM)
    })
})
