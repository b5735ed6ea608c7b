import { expect } from 'chai'
import fc from 'fast-check'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { isSortable } from '../../../lib/persistence/query/order-by.js'
import { planColumn } from '../../../lib/persistence/query/related-fields.js'
import type { ListOptions } from '../../../lib/persistence/contract/repository.js'
import { resourceModel } from '../../../lib/resource/resource-model.js'
import { BYTES, INSTANTS, NUMERIC, SPANS, TEXTS } from '../../persistence/query/specimen-rows.js'
import { drill } from '../../support/drill.js'
import { Specimen_Phase } from '../../support/gen/specimens_pb.js'
import { Specimen } from '../../support/entities/specimen.js'
import { draft, type Holder, inAcme, subjectOptions } from './subject.js'

type Specimens = Holder['subject']['specimens']

/** Every field that a list may be ordered by. */
export const SORTABLE: readonly string[] = Object.entries(resourceModel(Specimen).columns)
  .filter(([, column]) => isSortable(planColumn(column)))
  .map(([name]) => name)

const nth = <T>(values: readonly T[], index: number): T => values[index % values.length] as T
const sometimes = <T>(values: readonly T[], index: number): T | undefined =>
  values[index % (values.length + 1)]

const PHASES = [Specimen_Phase.RAW, Specimen_Phase.CUT, Specimen_Phase.SET]
const TIMES = INSTANTS.map((text) => new Date(text))

/** Every value of every kind in some row, many in several, so that the key has to decide. */
const ROWS: readonly Partial<Specimen>[] = TEXTS.map((text, i) => {
  const optional = {
    note: sometimes(TEXTS, i * 7),
    dueTime: sometimes(TIMES, i),
    span: sometimes(SPANS, i),
    rank: sometimes(NUMERIC.small, i),
  }
  return {
    ...draft({ id: `r${(i * 17) % TEXTS.length}`, code: `c${text}` }),
    title: text,
    active: i % 3 === 0,
    count: nth(NUMERIC.small, i),
    weight: nth(NUMERIC.count, i),
    big: nth(NUMERIC.big, i),
    huge: nth(NUMERIC.huge, i),
    ratio: nth(NUMERIC.ratio, i),
    score: nth(NUMERIC.weight, i),
    blob: nth(BYTES, i),
    phase: nth(PHASES, i),
    ...(Object.fromEntries(
      Object.entries(optional).filter(([, value]) => value !== undefined),
    ) as Partial<Specimen>),
  }
})

const walk = async (specimens: Specimens, list: ListOptions): Promise<string[]> => {
  const ids: string[] = []
  let pageToken = ''
  do {
    const page = await specimens.list({ ...list, pageToken })
    ids.push(...page.items.map(({ id }) => id))
    pageToken = page.nextPageToken
  } while (pageToken !== '' && ids.length < 1000)
  return ids
}

/** Two or three fields, each in a direction of its own. */
const combined = fc
  .shuffledSubarray([...SORTABLE], { minLength: 2, maxLength: 3 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) => fc.constantFrom('asc', 'desc').map((direction) => `${name} ${direction}`)),
    ),
  )
  .map((terms) => terms.join(', '))

/** The order of every kind of field, against that of memory. */
export const orders = (holder: Holder): void => {
  describe('order', () => {
    const fill = async (): Promise<Specimens> => {
      const memory = new (memoryRepositoryOf(Specimen))(subjectOptions)
      for (const row of ROWS) {
        await memory.create(row)
        await holder.subject.specimens.create(row)
      }
      return memory
    }
    /** The walk over small pages is that over one page, and both are that of memory. */
    const agree = async (memory: Specimens, orderBy: string, pageSize: number) => {
      const expected = (await memory.list({ orderBy, pageSize: 1000 })).items.map(({ id }) => id)
      for (const size of [1000, pageSize])
        expect(await walk(holder.subject.specimens, { orderBy, pageSize: size }), orderBy).to.deep.equal(
          expected,
        )
      expect(await walk(memory, { orderBy, pageSize }), orderBy).to.deep.equal(expected)
    }

    it('covers every sortable kind of field', () => {
      const kinds = SORTABLE.map((name) => planColumn(resourceModel(Specimen).columns[name] ?? '').kind)
      expect(kinds).to.include.members([
        ...['string', 'bytes', 'bool', 'int32', 'uint32', 'int64', 'uint64', 'float', 'double', 'enum'],
        ...['timestamp', 'duration'],
      ])
    })

    it('is the same as in memory for every field, in both directions and any page size', () =>
      inAcme(async () => {
        const memory = await fill()
        for (const name of SORTABLE)
          for (const direction of ['asc', 'desc']) await agree(memory, `${name} ${direction}`, 3)
      }))

    it('is the same as in memory for several fields', () =>
      inAcme(async () => {
        const memory = await fill()
        await fc.assert(
          fc.asyncProperty(combined, fc.integer({ min: 2, max: 9 }), (orderBy, size) =>
            agree(memory, orderBy, size),
          ),
          { numRuns: drill(25, 1000) },
        )
      }))
  })
}
