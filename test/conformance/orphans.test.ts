import { backends, describeOn, distributed, pooled } from '../support/databases/backends.js'
import { drilling } from '../support/drill.js'
import { orphanRaces } from './relations/orphan-races.js'
import { openRelations, type RelationSubject } from './relations/relation-subject.js'

const ROUNDS = drilling ? 500 : 12

describeOn(
  'a reference and a delete at the same time',
  [...backends, ...pooled, ...distributed],
  (backend) => {
    const holder = { subject: undefined as never as RelationSubject }
    before(async () => {
      holder.subject = await openRelations(backend)
    })
    beforeEach(() => holder.subject.clear())
    after(() => holder.subject?.close())

    orphanRaces(holder, ROUNDS)
  },
)
