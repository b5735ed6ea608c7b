import { Column, Entity, JoinColumn, ManyToOne, OneToMany, PrimaryColumn } from 'typeorm'
import {
  Internal,
  Resource,
  TenantColumn,
  TenantScoped,
  withoutTenants,
} from '../../../../decorators/index.js'
import { DeclarationError } from '../../../../lib/errors.js'
import { filter } from '../../../../lib/persistence/query/filter-template.js'
import { memoryRepositoryOf, repositoryOf } from '../../../../lib/persistence/repository-of.js'
import { type EntityClass, resourceModel } from '../../../../lib/resource/resource-model.js'
import type { Authorizer } from '../../../../lib/server/authz/authorizer.js'
import { backends, openWithTables } from '../../../support/databases/backends.js'
import { NoteSchema, NoteService } from '../../../support/gen/specimens_pb.js'
import { post, startServer } from '../../../support/servers/server.js'

/**
 * Prints what a process that has called `withoutTenants()` does on the backend of the argument: the problems
 * of each class, and the status and the names of each call.
 */

withoutTenants()
withoutTenants()

@Resource({ message: NoteSchema })
@Entity('plain_notes')
class Note {
  @PrimaryColumn({ length: 40 }) name!: string
  @Column({ length: 40 }) text!: string
  @Column() stars!: number
}

/** `accountId` is no tenant here: the class says so. */
@Resource({ shared: true })
@Entity('sessions')
class Session {
  @PrimaryColumn({ length: 40 }) id!: string
  @Column({ type: 'varchar', length: 40, nullable: true }) accountId?: string
}

@Resource()
@Entity('invoices')
@TenantScoped()
class Scoped {
  @PrimaryColumn() id!: string
}

@Resource()
@Entity('invoices')
class Marked {
  @PrimaryColumn() id!: string
  @TenantColumn() @Column() owner!: string
}

@Resource({ shared: false })
@Entity('invoices')
class Denied {
  @PrimaryColumn() id!: string
}

class Audit {
  @Column() teamId!: string
}

@Resource()
@Entity('invoices')
class Named {
  @PrimaryColumn() id!: string
  @Column() orgId!: string
  @Column() workspace_id!: string
  @Column() Company!: string
  @Internal() @Column({ name: 'tenantID' }) owner!: string
  @Internal() @Column(() => Audit) audit!: Audit
  @Internal() @ManyToOne(() => Note) team?: Note
  @Internal() @ManyToOne(() => Note) @JoinColumn({ name: 'organization_id' }) note?: Note
  @Internal() @OneToMany(() => Note, 'account') account?: Note[]
  @Column() accountant!: string
}

@Resource()
@Entity('invoices')
class ByName {
  @PrimaryColumn() id!: string
  @Column() accountId!: string
}

const problemsOf = (entity: EntityClass<object>): readonly string[] => {
  try {
    resourceModel(entity)
    return []
  } catch (error) {
    return (error as DeclarationError).problems
  }
}

const [name] = process.argv.slice(2)
const backend = backends.find((one) => one.name === name)
if (backend === undefined) throw new TypeError(`there is no backend ${name}`)

const { dataSource, close } = await openWithTables(backend, [Note, Session])
const notes =
  dataSource === undefined ? new (memoryRepositoryOf(Note))() : new (repositoryOf(Note))(dataSource)
const sessions =
  dataSource === undefined ? new (memoryRepositoryOf(Session))() : new (repositoryOf(Session))(dataSource)

/** Each caller reads all notes and writes those that have their name as text. */
const authorizer: Authorizer = {
  decidesByRow: true,
  authorize: ({ verb, principal }) =>
    principal.subject !== '' &&
    (['get', 'list'].includes(verb) || { where: filter`text = ${principal.subject}` }),
}
const server = await startServer((builder) => builder.register(NoteService, notes as never, {} as never), {
  authorizer,
})
const calls: (readonly [call: string, status: number])[] = []
const call = async (subject: string, method: string, path: string, body?: object) => {
  const { status } = await fetch(`${server.http}/v1/${path}`, {
    ...(body === undefined ? { method, headers: { subject } } : post({ subject }, body, method)),
  })
  calls.push([`${subject} ${method}`, status])
}
await call('ann', 'POST', 'notes', { name: 'notes/a', text: 'ann' })
await call('ann', 'POST', 'notes', { name: 'notes/b', text: 'bob' })
await call('bob', 'GET', 'notes/a')
await call('bob', 'DELETE', 'notes/a')
await call('ann', 'DELETE', 'notes/a')
await call('', 'GET', 'notes')
const session = await sessions.create({ id: 's', accountId: 'x' }).catch((error: unknown) => String(error))
await server.stop()
await close()

process.stdout.write(
  JSON.stringify({
    problems: Object.fromEntries(
      [Note, Session, Scoped, Marked, Denied, Named, ByName].map((one) => [one.name, problemsOf(one)]),
    ),
    calls,
    session,
  }),
)
