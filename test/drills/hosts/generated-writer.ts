import { DataSource } from 'typeorm'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { newDev } from '../../../lib/secrets/index.js'
import { NUMBERED } from '../../conformance/keys/numbered.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { onStatement } from '../../support/databases/on-statement.js'

/** What a process that is killed in the middle of creates is told. */
export interface CreatesErrand {
  readonly engine: 'postgres' | 'mariadb'
  readonly url: string
  /** Begins the titles of its rows. */
  readonly name: string
  /** How many create at the same time. */
  readonly writers: number
  /** The statement that is the process's last. */
  readonly last: number
}

/**
 * Creates rows whose keys the database mints, tells its parent each key that it has got, and kills its own
 * process, as the kernel would, while statement `last` is on its way.
 */
async function run({ engine, url, name, writers, last }: CreatesErrand): Promise<void> {
  const entities = NUMBERED.flatMap(({ Ticket, Step }) => [Ticket, Step])
  const dataSource = new DataSource({ type: engine, url, entities, poolSize: writers })
  await dataSource.initialize()
  const tickets = NUMBERED.map(
    ({ Ticket }) => new (repositoryOf(Ticket))(dataSource, { encryptor: newDev(Buffer.alloc(32, 7)) }),
  )
  onStatement(executorOf(dataSource), (sent) => {
    if (sent === last) process.kill(process.pid, 'SIGKILL')
  })
  const createAll = async (writer: number) => {
    for (let row = 0; ; row++)
      for (const [type, one] of tickets.entries()) {
        const { id } = await one.create({ title: `${name} ${writer} ${row}` })
        process.send?.({ type, id: String(id) } satisfies Answered)
      }
  }
  await inAcme(() => Promise.all(Array.from({ length: writers }, (_, writer) => createAll(writer))))
}

/** A key that a create has returned. */
export interface Answered {
  /** Which of the types of numbers. */
  readonly type: number
  readonly id: string
}

process.once('message', (errand: CreatesErrand) => void run(errand).then(() => process.exit(3)))
process.send?.('ready')
