import type { SentStatement } from '../../../lib/persistence/engines/watch-statements.js'
import type { Coalesce } from '../../../lib/persistence/coalescing/coalesce.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { openSubject } from '../../conformance/repository/open-subject.js'
import { asTenant, draft, subjectOptions } from '../../conformance/repository/subject.js'
import type { Backend } from '../../support/databases/backends.js'
import { Specimen } from '../../support/entities/specimen.js'
import { WatchedCalls } from './watched-calls.js'

const SpecimenRepository = repositoryOf(Specimen)
type Specimens = InstanceType<typeof SpecimenRepository>

export const TENANTS: readonly string[] = ['acme', 'globex', 'initech', 'umbrella']

/** Every tenant has a row with each of them. */
export const KEYS: readonly string[] = Array.from({ length: 16 }, (_, i) => `k${i}`)

export interface Asked {
  readonly tenant: string
  readonly key: string
}

/** Calls of every tenant for every key, mixed. */
export const everyCall: readonly Asked[] = TENANTS.flatMap((tenant, t) =>
  KEYS.map((_, i) => ({ tenant, key: KEYS[(i * 5 + t) % KEYS.length] as string })),
)

/** Whose calls a statement has: an array of each value, or one text of all. */
export const tenantsIn = ({ values: [first, second] }: SentStatement): ReadonlySet<unknown> =>
  new Set(
    typeof first === 'string'
      ? (JSON.parse(first) as string[][]).map(([, tenant]) => tenant)
      : (second as string[]),
  )

/** Specimens of four tenants, and what is sent to read them. */
export class ManyReaders extends WatchedCalls {
  static async open(backend: Backend): Promise<ManyReaders> {
    const { dataSource, specimens, close } = await openSubject(backend)
    if (dataSource === undefined) throw new TypeError('there is no database')
    for (const { tenant, key } of everyCall) {
      const title = `${tenant} ${key}`
      const row = draft({ id: key, code: title, title, webhookSecret: `s ${key}` })
      await asTenant(tenant, () => specimens.create(row))
    }
    return new ManyReaders(dataSource, close)
  }

  fresh(merge?: Coalesce): Specimens {
    return new SpecimenRepository(this.dataSource, { ...subjectOptions, ...(merge && { coalesce: merge }) })
  }

  /** A repository that has read the rules of its table; what it has sent for that is forgotten. */
  async warm(merge?: Coalesce): Promise<Specimens> {
    const specimens = this.fresh(merge)
    await this.warmUp(() => this.getAll(specimens))
    return specimens
  }

  get(specimens: Specimens, { tenant, key }: Asked): Promise<Specimen> {
    return asTenant(tenant, () => specimens.get(key))
  }

  getAll(specimens: Specimens): Promise<Specimen[]> {
    return Promise.all(everyCall.map((asked) => this.get(specimens, asked)))
  }
}
