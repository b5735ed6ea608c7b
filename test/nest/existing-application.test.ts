import 'reflect-metadata'
import { expect } from 'chai'
import { type DynamicModule, Inject, Injectable, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { DataSource, type Repository } from 'typeorm'
import { AshlarModule, provideService, serverToken } from '../../lib/nest/index.js'
import { devPrincipal } from '../../lib/server/authn/dev-principal.js'
import { devAuthorizer } from '../../lib/server/authz/dev-authorizer.js'
import type { Server } from '../../lib/server/server.js'
import { describeOn, databases } from '../support/databases/backends.js'
import { testDatabase } from '../support/databases/test-database.js'
import { root } from '../support/root.js'
import { ALICE, ALL, post, recordingLogger } from '../support/servers/server.js'
import * as entities from './hosts/planner-entities.js'
import { Label, Task } from './hosts/planner-entities.js'
import { TaskService } from './hosts/planner-messages.js'

/** A service of the application, which knows TypeORM alone. */
@Injectable()
class Tasks {
  constructor(@Inject('tasks') readonly tasks: Repository<Task>) {}

  async open(): Promise<string[]> {
    const found = await this.tasks.find({ where: { done: false }, order: { title: 'ASC' } })
    return found.map(({ title }) => title)
  }

  async finish(id: string): Promise<Task> {
    const task = await this.tasks.findOneByOrFail({ id })
    return this.tasks.save(Object.assign(task, { done: true }))
  }
}

/** As `TypeOrmModule.forRoot` and `forFeature` provide them. */
@Module({})
class DatabaseModule {
  static of(dataSource: DataSource): DynamicModule {
    const providers = [
      { provide: DataSource, useValue: dataSource },
      { provide: 'tasks', useValue: dataSource.getRepository(Task) },
    ]
    return {
      module: DatabaseModule,
      global: true,
      providers,
      exports: providers.map(({ provide }) => provide),
    }
  }
}

@Module({
  imports: [AshlarModule.forFeature([Task])],
  providers: [Tasks, provideService(TaskService, { repository: Task })],
})
class TasksModule {}

const classesIn = (exports: Readonly<Record<string, unknown>>) =>
  Object.values(exports).filter((one): one is new () => object => typeof one === 'function')

const source = readFileSync(join(root, 'test', 'nest', 'hosts', 'planner-entities.ts'), 'utf8').split('\n')
const isOfAshlar = (line: string): boolean =>
  /@Resource\(|EXISTING|decorators\/index|planner-messages/.test(line)

/** The module without the lines that Ashlar needs, as the application had it. */
async function entitiesBefore(): Promise<Readonly<Record<string, unknown>>> {
  const folder = mkdtempSync(join(tmpdir(), 'ashlar-planner-'))
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const text = source.filter((line) => !isOfAshlar(line)).join('\n')
    const { outputText } = ts.transpileModule(text, {
      compilerOptions: {
        target: ts.ScriptTarget.ES2022,
        module: ts.ModuleKind.ESNext,
        experimentalDecorators: true,
        emitDecoratorMetadata: true,
        useDefineForClassFields: false,
      },
    })
    const path = join(folder, 'entities.mjs')
    writeFileSync(path, `import 'reflect-metadata'\n${outputText}`)
    return (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describeOn(
  'an existing Nest application of ten classes',
  databases.filter(({ name }) => name === 'postgres'),
  () => {
    it('needs at most three lines for each class', () => {
      const classes = classesIn(entities).filter(({ name }) => name !== 'Base')
      expect(classes).to.have.length(10)
      expect(source.filter(isOfAshlar).length / classes.length).to.be.at.most(3)
    })

    it('is served from the tables that TypeORM has made, and keeps its own code', async () => {
      const { url, drop } = await testDatabase('postgres')
      const old = new DataSource({ type: 'postgres', url, entities: classesIn(await entitiesBefore()) })
      const dataSource = new DataSource({ type: 'postgres', url, entities: classesIn(entities) })
      try {
        await old.initialize()
        await old.synchronize()
        await old.getRepository('tasks').save({ title: 'before' })
        await dataSource.initialize()
        const app = await NestFactory.createApplicationContext(
          {
            module: class App {},
            imports: [
              DatabaseModule.of(dataSource),
              AshlarModule.forRoot({
                ...{ grpcAddr: '127.0.0.1:0', httpAddr: '127.0.0.1:0', logger: recordingLogger() },
                ...{ principalFunc: devPrincipal, authorizer: devAuthorizer([ALL]), allowDevelopment: true },
                dataSource: DataSource,
              }),
              TasksModule,
            ],
          },
          { logger: false, abortOnError: false },
        )
        try {
          const at = `http://${app.get<Server>(serverToken()).httpAddr()}/v1/tasks`
          const listed = (await (await fetch(at, { headers: ALICE })).json()) as { tasks: Task[] }
          const [first] = listed.tasks
          expect(first).to.include({ title: 'before' })
          expect(first).to.have.all.keys('id', 'title', 'done', 'created_at')
          const made = (await (await fetch(at, post(ALICE, { title: 'ours' }))).json()) as Task
          const tasks = app.get(Tasks)
          expect(await tasks.open()).to.deep.equal(['before', 'ours'])
          const label = await dataSource.getRepository(Label).save({ title: 'urgent' })
          const task = await tasks.tasks.findOneByOrFail({ id: made.id })
          await tasks.tasks.save(Object.assign(task, { labels: [label] }))
          expect((await tasks.finish(made.id)).revision).to.equal(2)
          const body = JSON.stringify({ title: 'theirs', done: true })
          const headers = { ...ALICE, 'content-type': 'application/json' }
          const patched = await fetch(`${at}/${made.id}?update_mask=*`, { method: 'PATCH', headers, body })
          expect(await patched.json()).to.include({ title: 'theirs', done: true })
          const read = await tasks.tasks.findOneOrFail({
            where: { id: made.id },
            relations: { labels: true },
          })
          expect(read).to.include({ title: 'theirs', revision: 3 })
          expect(read.labels?.map(({ title }) => title)).to.deep.equal(['urgent'])
          expect((await fetch(`${at}/${made.id}`, { method: 'DELETE', headers: ALICE })).status).to.equal(200)
          expect(await tasks.tasks.findOneBy({ id: made.id })).to.equal(null)
          await tasks.tasks.restore({ id: made.id })
          expect((await fetch(`${at}/${made.id}`, { headers: ALICE })).status).to.equal(200)
        } finally {
          await app.close()
        }
      } finally {
        for (const one of [old, dataSource]) if (one.isInitialized) await one.destroy()
        await drop()
      }
    })
  },
)
