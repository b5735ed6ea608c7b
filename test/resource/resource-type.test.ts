import { expect } from 'chai'
import { Entity, PrimaryColumn } from 'typeorm'
import { Resource } from '../../decorators/index.js'
import { DeclarationError } from '../../lib/errors.js'
import { modelsOf } from '../../lib/persistence/schema/resources-in.js'
import { resourceModel } from '../../lib/resource/resource-model.js'

@Resource({ shared: true })
@Entity()
class Ferry {
  @PrimaryColumn() id!: string
}

@Resource({ shared: true })
@Entity()
class FerryEntity {
  @PrimaryColumn() id!: string
}

@Resource({ shared: true, type: 'ferry_entity' })
@Entity()
class LargeFerryEntity {
  @PrimaryColumn() id!: string
}

describe('the type of a resource', () => {
  it('leaves out Entity at the end of the class name, and the table keeps it', () => {
    const { type, table } = resourceModel(FerryEntity)
    expect({ type, table }).to.deep.equal({ type: 'ferry', table: 'ferry_entity' })
    expect(resourceModel(LargeFerryEntity).type).to.equal('ferry_entity')
  })

  it('is rejected if a class with the suffix and one without it share it', () => {
    expect(() => modelsOf([Ferry, FerryEntity])).to.throw(
      DeclarationError,
      'FerryEntity: its resource type is ferry, and so is that of Ferry: write @Resource({ type: ... }) above one of them',
    )
    expect(modelsOf([Ferry, LargeFerryEntity])).to.have.length(2)
  })
})
