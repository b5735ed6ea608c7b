import { RequestContext } from '../../../lib/context.js'
import type { EntityClass } from '../../../lib/resource/resource-model.js'
import { type memoryRepositoryOf, type repositoryOf } from '../../../lib/persistence/repository-of.js'
import type { RepositoryOptions } from '../../../lib/persistence/sql/typeorm-repository.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import { newDev } from '../../../lib/secrets/dev-encryptor.js'
import { Note, Specimen } from '../../support/entities/specimen.js'

type Specimens =
  | InstanceType<ReturnType<typeof repositoryOf<Specimen>>>
  | InstanceType<ReturnType<typeof memoryRepositoryOf<Specimen>>>
type Notes =
  | InstanceType<ReturnType<typeof repositoryOf<Note>>>
  | InstanceType<ReturnType<typeof memoryRepositoryOf<Note>>>

/** A fresh, empty backend with the two resources in it. */
export interface Subject {
  readonly specimens: Specimens
  readonly notes: Notes
  /** Repositories with other options: of the same rows on a database, of none in memory. */
  withOptions(options: RepositoryOptions): Pick<Subject, 'specimens' | 'notes'>
  /**
   * Specimens of a class that overrides create: it makes `<id> 2` with the code `<code> 2` as well, or
   * neither of them. Its get takes a moment before it asks the database.
   */
  overridden(): Specimens
  /** Removes every row. */
  clear(): Promise<void>
  close(): Promise<void>
}

export { rejection } from '../../support/rejection.js'

/** What the repositories of a subject have to be made with. */
export const clock = { now: new Date('2026-03-04T05:06:07.089Z') }
export const encryptor = newDev(Buffer.alloc(32, 7))
export const subjectOptions: RepositoryOptions = {
  now: () => new Date(clock.now),
  minter: new CredentialMinter(),
  encryptor,
}
export const subjectEntities: readonly EntityClass<object>[] = [Specimen, Note]

/** Where the cases find the subject of the running backend. */
export interface Holder {
  readonly subject: Subject
}

export const asTenant = <T>(tenant: string, fn: () => Promise<T>): Promise<T> =>
  RequestContext.as({ tenant, subject: 'ada' }, fn)
export const inAcme = <T>(fn: () => Promise<T>): Promise<T> => asTenant('acme', fn)

let sequence = 0

/** A specimen that collides with no other. */
export const draft = (values: Partial<Specimen> = {}): Partial<Specimen> => ({
  code: `code-${++sequence}`,
  title: 'Granite',
  ...values,
})
