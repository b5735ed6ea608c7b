import { DataSource } from 'typeorm'
import { executorOf } from '../../../lib/persistence/engines/executor-of.js'
import { repositoriesOn } from '../../conformance/repository/open-subject.js'
import { inAcme, subjectEntities } from '../../conformance/repository/subject.js'
import { onStatement } from '../../support/databases/on-statement.js'

/** What a process that is killed in the middle of a batch is told. */
export interface Errand {
  readonly url: string
  /** What the server knows it by. */
  readonly name: string
  readonly operation: 'batchUpdate' | 'batchDelete'
  readonly keys: readonly string[]
  /** What a batchUpdate writes. */
  readonly count: number
  /** The statement that is the process's last. */
  readonly last: number
}

/** Sends a batch and kills its own process, as the kernel would, while statement `last` is on its way. */
async function run({ url, name, operation, keys, count, last }: Errand): Promise<void> {
  const dataSource = new DataSource({
    type: 'postgres',
    url,
    applicationName: name,
    entities: [...subjectEntities],
  })
  await dataSource.initialize()
  const { specimens } = repositoriesOn(dataSource)
  onStatement(executorOf(dataSource), (sent) => {
    if (sent === last) process.kill(process.pid, 'SIGKILL')
  })
  await inAcme(async () => {
    if (operation === 'batchDelete') return specimens.batchDelete(keys)
    await specimens.batchUpdate(keys.map((key) => ({ key, entity: { count }, fieldMask: ['count'] })))
  })
}

process.once('message', (errand: Errand) => void run(errand).then(() => process.exit(3)))
process.send?.('ready')
