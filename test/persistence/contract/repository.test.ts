import { expect } from 'chai'
import { OPTIONS_AT } from '../../../lib/persistence/repository/options-at.js'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import { StandardRepository } from '../../../lib/persistence/repository/standard-repository.js'
import { TypeormRepository } from '../../../lib/persistence/sql/typeorm-repository.js'

/** They take no options, so they have no context. */
const WITHOUT_OPTIONS: readonly string[] = ['constructor', 'checkWrites', 'withManager']

describe('OPTIONS_AT', () => {
  for (const { name, prototype } of [TypeormRepository, MemoryRepository])
    it(`has every operation of ${name}, and no other`, () => {
      const own = Object.getOwnPropertyDescriptors(StandardRepository.prototype)
      const methods = Object.entries({ ...own, ...Object.getOwnPropertyDescriptors(prototype) }).flatMap(
        ([method, { value }]) =>
          typeof value === 'function' && !WITHOUT_OPTIONS.includes(method) ? [method] : [],
      )
      expect(methods).to.have.members(Object.keys(OPTIONS_AT))
    })
})
