import fc from 'fast-check'
import { drill, drilling } from '../../support/drill.js'
import { ChangedDatabase, type Server } from './changed-database.js'
import { type Model, pairs, type Property } from './random-model.js'

const RUNS: Readonly<Record<Server, number>> = {
  postgres: drill(30, 500),
  mariadb: drill(30, 500),
  // The same statements as MariaDB: only its catalog differs.
  mysql8: drill(10, 500),
}
const LONGEST_MS = drill(300_000, 14_400_000)

const NOTHING: Model = {
  properties: [],
  group: 'none',
  softDeletable: false,
  hasEtag: false,
  hasTimes: false,
  owner: 'none',
  hasBaskets: false,
}

const property = (name: string, kind: Property['kind'], rest: Partial<Property> = {}): Property => ({
  ...{ name, kind, width: 0, nullable: false, hasDefault: false, rule: 'none' },
  ...rest,
})

/** Pairs that were wrong once. */
const FOUND: Readonly<Record<string, readonly [before: Model, after: Model]>> = {
  'a text that becomes shorter': [
    { ...NOTHING, properties: [property('alpha', 'text', { width: 1, rule: 'unique' })] },
    { ...NOTHING, properties: [property('alpha', 'text')] },
  ],
}

/**
 * In `npm test` small models and their statements alone: the files are run for those that were wrong once,
 * and in the drill.
 */
const RANDOM = pairs(drill(1, 4))
const RUNS_FILES = drilling ? 'files' : 'statements'

for (const server of ['postgres', 'mariadb', 'mysql8'] satisfies readonly Server[])
  describe(`the changes from one model to another on ${server}`, function () {
    this.timeout(LONGEST_MS)
    let database: ChangedDatabase | undefined
    const open = (runs: 'files' | 'statements') =>
      async function (this: Mocha.Context) {
        database = await ChangedDatabase.open(server, runs)
        if (database === undefined) this.skip()
      }

    describe('apply, leave what they say, keep the rows, and go back', () => {
      before(open('files'))
      after(() => database?.drop())

      for (const [name, [before, after]] of Object.entries(FOUND))
        it(name, () => database?.change(before, after))
    })

    describe('apply, leave what they say, keep the rows, and go back, whatever the models', () => {
      before(open(RUNS_FILES))
      after(() => database?.drop())

      it(`${RUNS[server]} pairs`, async () => {
        const began = performance.now()
        let pairsDone = 0
        const change = async ([before, after]: readonly [Model, Model]) => {
          await database?.change(before, after)
          if (++pairsDone % 50 !== 0) return
          const seconds = Math.round((performance.now() - began) / 1000)
          process.stdout.write(`      ${server}: ${pairsDone} pairs in ${seconds} s\n`)
        }
        await fc.assert(fc.asyncProperty(RANDOM, change), { numRuns: RUNS[server], endOnFailure: true })
      })
    })
  })
