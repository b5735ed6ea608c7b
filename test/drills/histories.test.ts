import { expect } from 'chai'
import fc from 'fast-check'
import { inspect, isDeepStrictEqual } from 'node:util'
import type { DataSource } from 'typeorm'
import { memoryRepositoryOf } from '../../lib/persistence/repository-of.js'
import { histories, type Step } from '../conformance/repository/history.js'
import { openSubject, repositoriesOn, type OpenSubject } from '../conformance/repository/open-subject.js'
import { Player } from '../conformance/repository/player.js'
import { draft, inAcme } from '../conformance/repository/subject.js'
import { databases, describeOn, coalesced } from '../support/databases/backends.js'
import { drill } from '../support/drill.js'
import { Specimen } from '../support/entities/specimen.js'

const RUNS = drill(8, 2000)
const LENGTH = 40
const SpecimenMemory = memoryRepositoryOf(Specimen)

/** A failure prints these two; setting them plays its history again. */
const { ASHLAR_SEED, ASHLAR_PATH } = process.env
const replay = {
  ...(ASHLAR_SEED === undefined ? {} : { seed: Number(ASHLAR_SEED) }),
  ...(ASHLAR_PATH === undefined ? {} : { path: ASHLAR_PATH }),
}

let played = 0
const isWork = ({ operation }: Step) => operation.op !== 'rest'

describeOn('any history', [...databases, ...coalesced], (backend) => {
  let subject: OpenSubject
  before(async () => {
    subject = await openSubject(backend)
  })
  after(() => subject?.close())

  it(`comes to what it comes to in memory: ${RUNS} histories of ${LENGTH} operations`, () =>
    fc.assert(
      fc.asyncProperty(histories(LENGTH), async (history) => {
        const suffix = `-${++played}`
        const model = new Player(suffix)
        model.on(new SpecimenMemory(model.options))
        const player = new Player(suffix)
        player.on(repositoriesOn(subject.dataSource as DataSource, player.options).specimens)
        for (const [index, step] of history.entries()) {
          const expected = await model.play(step)
          const what = () => inspect(history.slice(0, index + 1).filter(isWork), { depth: 9 })
          const actual = await player.play(step)
          expect(actual, isDeepStrictEqual(actual, expected) ? '' : what()).to.deep.equal(expected)
        }
        for (const tenant of ['acme', 'globex', 'initech'] as const)
          expect(await player.everything(tenant), tenant).to.deep.equal(await model.everything(tenant))
      }),
      {
        numRuns: RUNS,
        ...replay,
        interruptAfterTimeLimit: 3_500_000,
        markInterruptAsFailure: true,
      },
    ))

  it('a walk repeats and skips no row whose sort values stay, whatever is written meanwhile', () =>
    inAcme(async () => {
      const { specimens } = subject
      const keys = Array.from({ length: drill(60, 400) }, (_, i) => `row-${String(i).padStart(3, '0')}`)
      for (const [i, id] of keys.entries())
        await specimens.create(draft({ id, title: `t${i % 7}`, count: 0 }))
      const isSteady = (id: string) => Number(id.slice(4)) % 3 === 0
      const restless = keys.filter((id) => !isSteady(id))
      const walking = new AbortController()
      const writer = async (first: number) => {
        for (let i = first; !walking.signal.aborted; i += 2) {
          const id = restless[i % restless.length] as string
          await specimens.update(id, { title: `t${(i * 5) % 9}` }, ['title']).catch(() => {})
          await specimens
            .update(keys[(i * 3) % keys.length] as string, { count: i }, ['count'])
            .catch(() => {})
          await specimens.delete(id).catch(() => {})
          await specimens.create(draft({ id: `new-${first}-${i}`, title: `t${i % 9}` }))
          if (i % 4 === first) await specimens.undelete(id).catch(() => {})
        }
      }
      const writers = Promise.all([writer(0), writer(1)])
      try {
        for (const orderBy of ['title', 'title desc', 'title, code desc', '']) {
          const walked: string[] = []
          for (let pageToken = ''; ;) {
            const page = await specimens.list({ orderBy, pageToken, pageSize: 7 })
            walked.push(...page.items.map(({ id }) => id))
            if (page.nextPageToken === '') break
            pageToken = page.nextPageToken
          }
          const steady = walked.filter((id) => id.startsWith('row-') && isSteady(id))
          expect([...steady].sort(), `order by ${orderBy}`).to.deep.equal(keys.filter(isSteady))
        }
      } finally {
        walking.abort()
        await writers
      }
    }))
})
