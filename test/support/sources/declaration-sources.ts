import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiled, root } from '../root.js'

const SOURCE = `
import { type Credential, memoryRepositoryOf, repositoryOf, type Secret } from 'ashlar'

export class Hook {
  id!: string
  key!: Credential
  signingKey!: Secret
}
export class Hooks extends repositoryOf(Hook) {}
export class HooksInMemory extends memoryRepositoryOf(Hook) {}
export const repository = repositoryOf(Hook)
`

const UPDATES = `
import { repositoryOf } from 'ashlar'
import type { BatchUpdateItemOf } from 'ashlar/persistence'

class Hook {
  id!: string
  url!: string
  retries!: number
  note?: string
}
declare const hooks: InstanceType<ReturnType<typeof repositoryOf<Hook>>>
declare const whole: Hook
declare const names: string[]
declare const hook: Partial<Hook>

hooks.update('a', whole)
hooks.update('a', whole, ['*'])
hooks.update('a', { url: '' }, ['url'])
hooks.update('a', {}, names, { touchOnly: true })
hooks.batchUpdate([
  { key: 'a', entity: whole, fieldMask: [] },
  { key: 'b', entity: whole, fieldMask: ['*'] },
  { key: 'c', entity: { id: 'c', url: '', retries: 1 }, fieldMask: [] },
  { key: 'd', entity: { url: '' }, fieldMask: ['url', 'note'] },
  { key: 'e', entity: {}, fieldMask: names, touchOnly: true },
])
hooks.batchUpdate(names.map((key) => ({ key, entity: { url: key }, fieldMask: ['url'] })))
`

/** The fields that `create` requires if an entity declares which fields the server sets. */
const CREATES = `
import { memoryRepositoryOf, repositoryOf, type Credential } from 'ashlar'
import type { NewEntity, OperationOptions, Repository, ServerSet } from 'ashlar/persistence'

enum State { DRAFT, OPEN }
class Hook {
  id!: ServerSet<string>
  url!: string
  retries!: number
  state!: ServerSet<State>
  note?: string
  token!: Credential
  createTime!: ServerSet<Date>
  get isOld(): boolean { return this.createTime.getTime() < 0 }
  label(): string { return this.url }
}
class Plain {
  id!: string
  anything!: any
}
class Hooks extends repositoryOf(Hook) {
  override async create(hook: NewEntity<Hook>, options?: OperationOptions): Promise<Hook> {
    return super.create({ ...hook, url: hook.url.trim() }, options)
  }
}
class HooksInMemory extends memoryRepositoryOf(Hook) {}
declare const hooks: Hooks
declare const inMemory: HooksInMemory
declare const plain: Repository<Plain>
declare const whole: Hook
export const any: Repository<object> = hooks

hooks.create({ url: '', retries: 1, isOld: false })
hooks.create({ url: '', retries: 1, isOld: false, state: State.OPEN, createTime: new Date(), id: 'a' })
inMemory.create({ url: '', retries: 1, isOld: false })
hooks.create(whole)
plain.create({})
whole.state = State.DRAFT
whole.createTime = new Date()
`

const INCOMPLETE = [
  'hooks.create({})',
  "hooks.create({ url: '' })",
  "inMemory.create({ url: '' })",
  "hooks.create({ url: '', retries: '1', isOld: false })",
]

/** Overrides each operation in a subclass and calls `super` in it. */
const OVERRIDES = ['repositoryOf', 'memoryRepositoryOf'].map(
  (base) => `
import { ${base} } from 'ashlar'
import type { OperationOptions, UpdateOptions, WriteOptions } from 'ashlar/persistence'

class Hook {
  id!: string
  url!: string
}
export class Hooks extends ${base}(Hook) {
  override async get(key: string, options?: OperationOptions): Promise<Hook> {
    return super.get(key, options)
  }
  override async create(hook: Partial<Hook>, options?: OperationOptions): Promise<Hook> {
    return super.create({ ...hook, url: hook.url ?? '' }, options)
  }
  override async update(key: string, hook: Partial<Hook>, mask?: readonly string[], options?: UpdateOptions): Promise<Hook> {
    return super.update(key, hook as Hook, mask as [], options)
  }
  override async delete(key: string, options?: WriteOptions): Promise<void> {
    await super.delete(key, options)
  }
}
`,
)

/**
 * Calls that must not compile: they would set fields that they do not name to zero, or they name fields that
 * do not exist.
 */
const MISTAKES = [
  "hooks.update('a', { url: '' })",
  "hooks.update('a', { url: '' }, [])",
  "hooks.update('a', { url: '' }, ['*'])",
  "hooks.update('a', { url: '' }, names)",
  "hooks.update('a', { url: '' }, ['address'])",
  "hooks.update('a', {}, names, { touchOnly: false })",
  "hooks.batchUpdate([{ key: 'a', entity: { url: '' }, fieldMask: [] }])",
  "hooks.batchUpdate([{ key: 'a', entity: { url: '' }, fieldMask: ['*'] }])",
  "hooks.batchUpdate([{ key: 'a', entity: { url: '' }, fieldMask: names }])",
  "hooks.batchUpdate([{ key: 'a', entity: { url: '' }, fieldMask: ['address'] }])",
  "hooks.batchUpdate([{ key: 'a', entity: { url: '' } } as never as { key: string; entity: Partial<Hook> }])",
  "hooks.batchUpdate([{ key: 'a', entity: hook, fieldMask: [] }])",
  "hooks.batchUpdate([{ key: 'a', entity: whole, fieldMask: [] }, { key: 'b', entity: hook, fieldMask: [] }])",
  "hooks.batchUpdate([{ key: 'a', entity: {}, fieldMask: [], touchOnly: false }])",
  "const item: BatchUpdateItemOf<Hook> = { key: 'a', entity: hook, fieldMask: [] }",
]

/** The types of the request, the response and `standard` are inferred from the wrapped method. */
const WRAPS = `
import { type Implementation, ServerBuilder, wrapped } from 'ashlar'
import type { Repository } from 'ashlar'
import type { MethodHandler } from 'ashlar/server'
import type { GenMessage, GenService } from '@bufbuild/protobuf/codegenv2'
import type { Message } from '@bufbuild/protobuf'

type Task = Message<'tasks.v1.Task'> & { id: string; title: string; done: boolean }
type CreateTaskRequest = Message<'tasks.v1.CreateTaskRequest'> & { task?: Task; taskId: string }
type ListTasksResponse = Message<'tasks.v1.ListTasksResponse'> & { tasks: Task[]; nextPageToken: string }
type ListTasksRequest = Message<'tasks.v1.ListTasksRequest'> & { filter: string }
declare const TaskService: GenService<{
  createTask: { methodKind: 'unary'; input: GenMessage<CreateTaskRequest>; output: GenMessage<Task> }
  listTasks: { methodKind: 'unary'; input: GenMessage<ListTasksRequest>; output: GenMessage<ListTasksResponse> }
}>
declare const tasks: Repository<{ id: string }>

new ServerBuilder().register(TaskService, tasks, {
  createTask: wrapped({ transaction: true }, async (request, call, standard) => {
    const task: Task = await standard({ ...request, taskId: call.principal.subject })
    await standard({ taskId: 'b', task: { title: 'b' } })
    return { ...task, done: true }
  }),
  listTasks: wrapped({}, async (request, _call, standard) => {
    const { tasks: found } = await standard({ filter: request.filter })
    return { tasks: found.filter(({ done }) => done) }
  }),
})
export const createTask: MethodHandler<(typeof TaskService)['method']['createTask']> = wrapped(
  {},
  (request, _call, standard) => standard(request),
)
export class TaskMethods implements Partial<Implementation<typeof TaskService>> {
  readonly createTask: Implementation<typeof TaskService>['createTask'] = wrapped({}, (request, _call, standard) =>
    standard({ ...request, taskId: this.prefix + request.taskId }),
  )
  constructor(private readonly prefix: string) {}
}
`

const WRAP_MISTAKES = [
  'wrapped({}, async (request, _call, standard) => standard({ ...request, taskId: 1 }))',
  "wrapped({}, async (_request, _call, standard) => standard({ task: { name: 'a' } }))",
  'wrapped({}, async (request, _call, standard) => (await standard(request)).name)',
  "wrapped({}, async () => ({ name: 'a' }))",
  'wrapped({}, async (request) => ({ id: request.id }))',
  "wrapped({ transaction: 'yes' }, async (request, _call, standard) => standard(request))",
]

/** A computed field has the type of the class whose function computes it. */
const COMPUTED = `
import { Resource } from 'ashlar'
import { Computed } from 'ashlar/decorators'
import type { NewEntity, ServerSet } from 'ashlar/persistence'
import { Column, Entity, PrimaryColumn } from 'typeorm'

@Resource({ shared: true })
@Entity()
export class Line {
  @PrimaryColumn() id!: ServerSet<string>
  @Column() pieces!: number
  @Column() price!: number
  @Computed((line: Line) => line.pieces * line.price) total!: ServerSet<number>
  @Computed((line) => line.label.length + line.total) count!: ServerSet<number>
  @Computed<Line>((line) => line.id) label!: ServerSet<string>
  // @ts-expect-error -- of another class
  @Computed((line: { height: number }) => line.height) weight!: ServerSet<number>
  // @ts-expect-error -- there is no such property
  @Computed((line) => line.piece) wrong!: ServerSet<number>
}
export const line: NewEntity<Line> = { pieces: 1, price: 2 }
// @ts-expect-error -- the price is missing
export const part: NewEntity<Line> = { pieces: 1 }
`

const expectErrors = (lines: readonly string[]): string =>
  lines.map((line) => `{\n  // @ts-expect-error\n  ${line}\n}\n`).join('')

/**
 * Sources of a package that uses this package, by the behaviour that they check. Each line below
 * `@ts-expect-error` must not compile.
 */
export const declarationSources: Readonly<Record<string, string>> = {
  'name every type that a repository is made of': SOURCE,
  'take an update of a whole entity, or of part of one with a mask, in a batch as well':
    UPDATES + expectErrors(MISTAKES),
  'ask for what a new entity needs, where it says what the server sets': CREATES + expectErrors(INCOMPLETE),
  'let operations be overridden as methods': OVERRIDES[0] as string,
  'let operations be overridden as methods, in memory': OVERRIDES[1] as string,
  'tell a wrapped method what its request and its response are':
    WRAPS +
    WRAP_MISTAKES.map(
      (wrap) =>
        `new ServerBuilder().register(TaskService, tasks, {\n// @ts-expect-error\ncreateTask: ${wrap},\n})\n`,
    ).join(''),
  'say whose function computes a field': COMPUTED,
}

/** The compiler options of such a package. */
export const packageOptions = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  declaration: true,
  emitDeclarationOnly: true,
  skipLibCheck: true,
  preserveSymlinks: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  types: [],
  outDir: 'out',
} as const

/** Creates a package with this package and its dependencies in `node_modules`. Returns its folder. */
export function emptyPackage(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-declarations-'))
  const installed = join(folder, 'node_modules')
  mkdirSync(join(installed, 'ashlar'), { recursive: true })
  symlinkSync(compiled, join(installed, 'ashlar', 'dist'))
  symlinkSync(join(root, 'package.json'), join(installed, 'ashlar', 'package.json'))
  for (const name of ['ashlar-annotations', 'typeorm', '@bufbuild', '@grpc', 'nice-grpc', 'nice-grpc-common'])
    symlinkSync(join(root, 'node_modules', name), join(installed, name))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}
