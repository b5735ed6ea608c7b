import { expect } from 'chai'
import { MemoryRepository } from '../../../lib/persistence/memory/memory-repository.js'
import type { ListOptions, ListScope, ReadOptions } from '../../../lib/persistence/contract/repository.js'
import { CredentialMinter, newDev } from '../../../lib/secrets/index.js'
import { type Authorizer, ServerBuilder } from '../../../lib/server/index.js'
import { securityCheck } from '../../../lib/testing/index.js'
import { openSubject } from '../../conformance/repository/open-subject.js'
import { backends, describeOn, merged } from '../../support/databases/backends.js'
import { drilling } from '../../support/drill.js'
import { Specimen } from '../../support/entities/specimen.js'
import { SpecimenService } from '../../support/gen/specimens_pb.js'

const authorizer: Authorizer = { decidesByRow: true, authorize: () => false }
const served = (specimens: MemoryRepository<Specimen>) =>
  new ServerBuilder({ authorizer }).register(
    SpecimenService,
    specimens as never,
    {
      weighSpecimen: async ({ id }: { id: string }) => specimens.model.toMessage(await specimens.get(id)),
    } as never,
  )

/** It asks for one row after another, which are merged in the same way on each engine. */
const alsoMerged = merged.filter(({ name }) => drilling || name === 'postgres')

describeOn('securityCheck of decisions by row', [...backends, ...alsoMerged], (backend) => {
  it('finds nothing wrong with a repository that applies predicates', async function () {
    this.timeout(120_000)
    const { specimens, close } = await openSubject(backend)
    try {
      const report = await securityCheck(served(specimens as never))
      expect(report.findings).to.deep.equal([])
      const reasons = report.notChecked.filter(({ reason }) => reason.startsWith('isolation by row'))
      expect(reasons.map(({ method }) => method.split('/').at(-1))).to.deep.equal(['WeighSpecimen'])
    } finally {
      await close()
    }
  })
})

describe('securityCheck of decisions by row', function () {
  this.timeout(120_000)

  it('finds what reads the predicate and does not apply it', async () => {
    class Leaky extends MemoryRepository<Specimen> {
      override get(key: string, options: ReadOptions = {}) {
        const { where: _where, ...rest } = options
        return super.get(key, rest)
      }
      override list(list?: ListOptions<Specimen>, options: ListScope = {}) {
        const { where: _where, ...rest } = options
        return super.list(list, rest)
      }
    }
    const secrets = { minter: new CredentialMinter(), encryptor: newDev(Buffer.alloc(32, 7)) }
    const { findings } = await securityCheck(served(new Leaky(Specimen, secrets)))
    expect([
      ...new Set(findings.map(({ check, method }) => `${check} ${method.split('/').at(-1)}`)),
    ]).to.deep.equal(['isolation GetSpecimen', 'isolation ListSpecimens'])
  })
})
