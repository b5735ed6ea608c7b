import { memoryRepositoryOf } from '../../../../lib/persistence/index.js'
import { ServerBuilder } from '../../../../lib/server/index.js'
import { echoService } from '../../../support/grpc/echo.js'
import { EchoService, NoteService, UndeclaredService } from '../../../support/gen/specimens_pb.js'
import { Note } from '../../../support/entities/specimen.js'

const notes = () => new (memoryRepositoryOf(Note))()

/** A method without a rule, and one without an implementation. */
export const builder = (): ServerBuilder => {
  process.stdout.write('building\n')
  const { echo, ...others } = echoService
  return new ServerBuilder()
    .register(EchoService, others as never)
    .register(NoteService, notes())
    .register(UndeclaredService, {} as never)
}

export const sound = (): ServerBuilder =>
  new ServerBuilder().register(EchoService, echoService).register(NoteService, notes())

export const away = (): Promise<never> => Promise.reject(new Error('no database'))

export { away as checked }
