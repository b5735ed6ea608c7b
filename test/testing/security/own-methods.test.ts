import { create, type DescMessage, type MessageInitShape, setExtension } from '@bufbuild/protobuf'
import {
  DescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FieldDescriptorProtoSchema,
  MethodDescriptorProtoSchema,
  MethodOptionsSchema,
} from '@bufbuild/protobuf/wkt'
import { rule, RuleSchema } from 'ashlar-annotations/ashlar/api/v1/annotations_pb.js'
import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { Column, Entity, PrimaryColumn } from 'typeorm'
import { ETag, Resource, SoftDeletable, TenantScoped } from '../../../decorators/index.js'
import type { ServerCall } from '../../../lib/call.js'
import { RequestContext } from '../../../lib/context.js'
import { AshlarError } from '../../../lib/errors.js'
import { repositoryOf } from '../../../lib/persistence/repository-of.js'
import { createTables } from '../../../lib/persistence/schema/create-tables.js'
import { SqliteDataSource } from '../../../lib/persistence/sqlite-data-source.js'
import { ServerBuilder } from '../../../lib/server/index.js'
import { securityCheck } from '../../../lib/testing/index.js'
import { TaskService } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'

type FieldInit = MessageInitShape<typeof FieldDescriptorProtoSchema>

interface Request {
  readonly id: string
  readonly all: boolean
  readonly mine?: boolean
  readonly phase: number
  readonly options?: { readonly all: boolean }
  readonly pageToken: string
  readonly mode: string
  readonly level: number
  readonly taskIds: readonly string[]
  readonly orderBy: string
  readonly pageSize: number
  readonly readMask?: { readonly paths: readonly string[] }
  readonly updateMask?: { readonly paths: readonly string[] }
  readonly requestId: string
  readonly phases: readonly number[]
  readonly etag: string
  readonly view?: { readonly all: boolean; readonly phase: number }
  readonly choice: { readonly case: string | undefined }
}

/** A method of an application. Its response has titles, a count and a page token. */
interface Own {
  readonly fields: readonly (keyof typeof FIELDS)[]
  readonly make: (rows: Rows) => (request: Request, call: ServerCall) => Promise<object>
}

const optional = { label: Label.OPTIONAL } as const
const FIELDS = {
  id: { name: 'id', type: Type.STRING, ...optional },
  all: { name: 'all', type: Type.BOOL, ...optional },
  phase: { name: 'phase', type: Type.ENUM, typeName: '.plans.v1.Phase', ...optional },
  options: { name: 'options', type: Type.MESSAGE, typeName: '.plans.v1.Options', ...optional },
  page_token: { name: 'page_token', type: Type.STRING, ...optional },
  mode: { name: 'mode', type: Type.STRING, ...optional },
  level: { name: 'level', type: Type.INT32, ...optional },
  task_ids: { name: 'task_ids', type: Type.STRING, label: Label.REPEATED },
  order_by: { name: 'order_by', type: Type.STRING, ...optional },
  page_size: { name: 'page_size', type: Type.INT32, ...optional },
  read_mask: { name: 'read_mask', type: Type.MESSAGE, typeName: '.google.protobuf.FieldMask', ...optional },
  update_mask: {
    ...{ name: 'update_mask', type: Type.MESSAGE, typeName: '.google.protobuf.FieldMask' },
    ...optional,
  },
  request_id: { name: 'request_id', type: Type.STRING, ...optional },
  phases: { name: 'phases', type: Type.ENUM, typeName: '.plans.v1.Phase', label: Label.REPEATED },
  etag: { name: 'etag', type: Type.STRING, ...optional },
  view: { name: 'view', type: Type.MESSAGE, typeName: '.plans.v1.View', ...optional },
  one: { name: 'one', type: Type.BOOL, oneofIndex: 0, ...optional },
  other: { name: 'other', type: Type.MESSAGE, typeName: '.plans.v1.View', oneofIndex: 0, ...optional },
} as const satisfies Readonly<Record<string, FieldInit>>

/** Rows as SQL has them, with no tenant in the way. */
interface Rows {
  readonly query: (sql: string, values?: readonly unknown[]) => Promise<{ id: string; title: string }[]>
  /** Fails unless the caller's tenant has the row. */
  readonly get: (id: string) => Promise<{ title: string }>
}

const tenant = () => RequestContext.current().tenant
const titles = async (rows: Promise<readonly { title: string }[]>) => ({
  titles: (await rows).map(({ title }) => title),
})
const ofTenant = ({ query }: Rows) =>
  query('SELECT id, title FROM own_tasks WHERE account_id = ?', [tenant()])
const ofAll = ({ query }: Rows) => query('SELECT id, title FROM own_tasks')
const archive = ({ query }: Rows, id: string) =>
  query("UPDATE own_tasks SET title = title || '!' WHERE id = ?", [id])
const archiveAll = ({ query }: Rows) => query("UPDATE own_tasks SET title = title || '!'")
const isDeleted = 'deleted_at IS NOT NULL'
/** Lets pass what has failed once. */
const afterAFailure = () => {
  const failed = new Set<string>()
  return async (id: string, check: () => Promise<unknown>) => {
    if (failed.has(id)) return
    await check().catch((error: unknown) => {
      failed.add(id)
      throw error
    })
  }
}
const later = (work: () => Promise<unknown>) => {
  setTimeout(() => void work().catch(() => {}), 40)
  return {}
}

const HOLES: Readonly<Record<string, Own>> = {
  WritesTheRow: {
    fields: ['id'],
    make:
      (rows) =>
      async ({ id }) => (await archive(rows, id), {}),
  },
  RemovesTheRow: {
    fields: ['id'],
    make:
      (rows) =>
      async ({ id }) => (await rows.query('DELETE FROM own_tasks WHERE id = ?', [id]), {}),
  },
  WritesTheRowLater: {
    fields: ['id'],
    make:
      (rows) =>
      async ({ id }) =>
        later(() => archive(rows, id)),
  },
  WritesTheRowAndFails: {
    fields: ['id'],
    make:
      (rows) =>
      async ({ id }) => (await archive(rows, id), await rows.get(id), {}),
  },
  WritesTheRowByFlag: {
    fields: ['id', 'all'],
    make:
      (rows) =>
      async ({ id, all }) => (all || (await rows.get(id)), await archive(rows, id), {}),
  },
  WritesTheRowOfAKnownId: {
    fields: ['id'],
    make: (rows) => {
      const known = new Set<string>()
      return async ({ id }) => {
        if (!known.has(id)) await rows.get(id)
        known.add(id)
        await archive(rows, id)
        return {}
      }
    },
  },
  CachesTheRow: {
    fields: ['id'],
    make: (rows) => {
      const cache = new Map<string, object>()
      return async ({ id }) => {
        const row = cache.get(id) ?? { titles: [(await rows.get(id)).title] }
        cache.set(id, row)
        return row
      }
    },
  },
  CachesANumber: {
    fields: ['id'],
    make: (rows) => {
      const cache = new Map<string, number>()
      return async ({ id }) => {
        const count = cache.get(id) ?? (await ofTenant(rows)).filter((row) => row.id === id).length
        cache.set(id, count)
        return { count }
      }
    },
  },
  CachesTheList: {
    fields: [],
    make: (rows) => {
      let cached: Promise<object> | undefined
      return () => (cached ??= titles(ofTenant(rows)))
    },
  },
  ReadsByFlag: {
    fields: ['all'],
    make:
      (rows) =>
      ({ all }) =>
        titles(all ? ofAll(rows) : ofTenant(rows)),
  },
  CountsByEnum: {
    fields: ['phase'],
    make:
      (rows) =>
      async ({ phase }) => ({
        count: (await (phase === 2 ? ofAll(rows) : ofTenant(rows))).length,
      }),
  },
  ReadsByFlagAndEnum: {
    fields: ['options', 'phase'],
    make:
      (rows) =>
      ({ options, phase }) =>
        titles(options?.all === true && phase === 2 ? ofAll(rows) : ofTenant(rows)),
  },
  ReadsOnALaterPage: {
    fields: ['page_token'],
    make:
      (rows) =>
      async ({ pageToken }) => {
        const page = Number(pageToken || '0')
        const found = page < 2 ? [] : await ofAll(rows)
        return { titles: found.map(({ id }) => id), nextPageToken: page < 2 ? String(page + 1) : '' }
      },
  },
  SortsByTitle: {
    fields: ['order_by'],
    make:
      (rows) =>
      ({ orderBy }) =>
        titles(orderBy.includes('title') ? ofAll(rows) : ofTenant(rows)),
  },
  ReadsLargePages: {
    fields: ['page_size'],
    make:
      (rows) =>
      ({ pageSize }) =>
        titles(pageSize > 100 ? ofAll(rows) : ofTenant(rows)),
  },
  ReadsByMask: {
    fields: ['read_mask'],
    make:
      (rows) =>
      ({ readMask }) =>
        titles(readMask?.paths.includes('titles') === true ? ofAll(rows) : ofTenant(rows)),
  },
  ReadsByUnknownEnum: {
    fields: ['phase'],
    make:
      (rows) =>
      ({ phase }) =>
        titles(phase > 2 ? ofAll(rows) : ofTenant(rows)),
  },
  ReadsWithoutIds: {
    fields: ['task_ids'],
    make: (rows) => async (request) => {
      if (request.taskIds.length === 0) return titles(ofAll(rows))
      return { titles: await Promise.all(request.taskIds.map(async (id) => (await rows.get(id)).title)) }
    },
  },
  SharesCursors: {
    fields: ['page_token'],
    make: (rows) => {
      const cursors = new Map<string, readonly { title: string }[]>()
      return async ({ pageToken }) => {
        if (pageToken !== '') return titles(Promise.resolve(cursors.get(pageToken) ?? []))
        const found = await ofTenant(rows)
        const nextPageToken = `cursor-${cursors.size}`
        cursors.set(nextPageToken, found.slice(1))
        return { ...(await titles(Promise.resolve(found.slice(0, 1)))), nextPageToken }
      }
    },
  },
  SharesRequestIds: {
    fields: ['id', 'request_id'],
    make: (rows) => {
      const done = new Map<string, object>()
      return async ({ id, requestId }) => {
        const response = done.get(requestId) ?? { titles: [(await rows.get(id)).title] }
        if (requestId !== '') done.set(requestId, response)
        return response
      }
    },
  },
  WritesByMask: {
    fields: ['id', 'update_mask'],
    make:
      (rows) =>
      async ({ id, updateMask }) => {
        if (updateMask?.paths.includes('title') !== true) await rows.get(id)
        await archive(rows, id)
        return {}
      },
  },
  CountsDeletedRows: {
    fields: [],
    make: (rows) => async () => ({
      count: (await rows.query(`SELECT id FROM own_tasks WHERE ${isDeleted}`)).length,
    }),
  },
  ReadsADeletedRow: {
    fields: ['id'],
    make:
      (rows) =>
      ({ id }) =>
        titles(rows.query(`SELECT title FROM own_tasks WHERE id = ? AND ${isDeleted}`, [id])),
  },
  RestoresADeletedRow: {
    fields: ['id'],
    make:
      (rows) =>
      async ({ id }) => (await rows.query('UPDATE own_tasks SET deleted_at = NULL WHERE id = ?', [id]), {}),
  },
  RemovesADeletedRow: {
    fields: ['id'],
    make:
      (rows) =>
      async ({ id }) => (await rows.query(`DELETE FROM own_tasks WHERE id = ? AND ${isDeleted}`, [id]), {}),
  },
  ReadsAfterAFailure: {
    fields: ['id'],
    make: (rows) => {
      const check = afterAFailure()
      return async ({ id }) => {
        await check(id, () => rows.get(id))
        return titles(rows.query('SELECT title FROM own_tasks WHERE id = ?', [id]))
      }
    },
  },
  WritesAfterAFailure: {
    fields: ['id'],
    make: (rows) => {
      const check = afterAFailure()
      return async ({ id }) => (await check(id, () => rows.get(id)), await archive(rows, id), {})
    },
  },
  CountsInAFailure: {
    fields: [],
    make: (rows) => async () => {
      throw new AshlarError('FAILED_PRECONDITION', `${(await ofAll(rows)).length} tasks are open`)
    },
  },
  CountsInATrailer: {
    fields: [],
    make: (rows) => async (_request, call) => {
      call.trailers.set('etag', `"${(await ofAll(rows)).length}"`)
      return {}
    },
  },
  ReadsWithoutAView: {
    fields: ['view'],
    make:
      (rows) =>
      ({ view }) =>
        titles(view === undefined ? ofAll(rows) : ofTenant(rows)),
  },
  ReadsByAnEmptyView: {
    fields: ['view'],
    make:
      (rows) =>
      ({ view }) =>
        titles(view?.all === false && view.phase === 0 ? ofAll(rows) : ofTenant(rows)),
  },
  ReadsWithoutAChoice: {
    fields: ['one', 'other'],
    make:
      (rows) =>
      ({ choice }) =>
        titles(choice.case === undefined ? ofAll(rows) : ofTenant(rows)),
  },
  ReadsInTwoPhases: {
    fields: ['phases'],
    make:
      (rows) =>
      ({ phases }) =>
        titles(phases.length > 1 ? ofAll(rows) : ofTenant(rows)),
  },
  ReadsNegativePages: {
    fields: ['page_size'],
    make:
      (rows) =>
      ({ pageSize }) =>
        titles(pageSize < 0 ? ofAll(rows) : ofTenant(rows)),
  },
  WritesWithAnyEtag: {
    fields: ['id', 'etag'],
    make:
      (rows) =>
      async ({ id, etag }) => {
        if (etag !== '*') await rows.get(id)
        await archive(rows, id)
        return {}
      },
  },
  FailsForAll: { fields: [], make: () => () => Promise.reject(new RangeError('not ready')) },
  ReadsByText: {
    fields: ['mode'],
    make:
      (rows) =>
      ({ mode }) =>
        titles(mode === 'everything' ? ofAll(rows) : ofTenant(rows)),
  },
  ReadsByNumber: {
    fields: ['level'],
    make:
      (rows) =>
      ({ level }) =>
        titles(level === 9_999 ? ofAll(rows) : ofTenant(rows)),
  },
}

/** It changes rows of its own tenant, at once and later, and reads them by flags and pages. */
const SAFE: Readonly<Record<string, Own>> = {
  WritesTheRowLater: {
    fields: ['id', 'all'],
    make:
      (rows) =>
      async ({ id }) => (await rows.get(id), later(() => archive(rows, id))),
  },
  RemovesTheRow: {
    fields: ['id', 'phase'],
    make:
      (rows) =>
      async ({ id }) => (
        await rows.get(id),
        await rows.query('DELETE FROM own_tasks WHERE id = ?', [id]),
        {}
      ),
  },
  WritesAllOfItsTenant: {
    fields: ['options'],
    make: (rows) => async () => {
      const own = tenant()
      const write = () => rows.query("UPDATE own_tasks SET title = title || '!' WHERE account_id = ?", [own])
      await write()
      return later(write)
    },
  },
  RestoresADeletedRow: {
    fields: ['id', 'request_id'],
    make:
      ({ query }) =>
      async ({ id }) => (
        await query('UPDATE own_tasks SET deleted_at = NULL WHERE id = ? AND account_id = ?', [id, tenant()]),
        {}
      ),
  },
  ListsItsOwnRows: {
    fields: ['order_by', 'page_size', 'page_token', 'phase'],
    make:
      (rows) =>
      async ({ pageToken }) => {
        const [first, ...rest] = (await ofTenant(rows)).filter(({ id }) => id > pageToken)
        return { titles: first === undefined ? [] : [first.title], nextPageToken: rest[0] ? first?.id : '' }
      },
  },
  CachesByTenant: {
    fields: ['id'],
    make: (rows) => {
      const cache = new Map<string, object>()
      return async ({ id }) => {
        const key = `${tenant()} ${id}`
        const row = cache.get(key) ?? { titles: [(await rows.get(id)).title] }
        cache.set(key, row)
        return row
      }
    },
  },
}

const entityOf = (message: DescMessage) => {
  @Resource({ message, type: 'task' })
  @Entity('own_tasks')
  @TenantScoped()
  @SoftDeletable()
  class OwnTask {
    @PrimaryColumn() id!: string
    accountId!: string
    @Column() title!: string
    @ETag() etag!: string
    deleteTime?: Date
  }
  return OwnTask
}

/** The service of tasks with methods of its own. */
const serviceOf = (methods: Readonly<Record<string, Own>>) =>
  altered(TaskService, (proto) => {
    for (const name of ['project_id', 'project', 'lead_id', 'lead', 'after_id', 'after'])
      proto.removeField('Task', name)
    const message = (name: string, field: readonly FieldInit[]) =>
      proto.file.messageType.push(
        create(DescriptorProtoSchema, {
          name,
          field: field.map((one, at) => ({ ...one, number: at + 1, jsonName: one.name ?? '' })),
          oneofDecl: field.some(({ oneofIndex }) => oneofIndex !== undefined) ? [{ name: 'choice' }] : [],
        }),
      )
    message('Options', [FIELDS.all])
    message('View', [FIELDS.all, FIELDS.phase])
    message('OwnResponse', [
      { name: 'titles', type: Type.STRING, label: Label.REPEATED },
      { name: 'count', type: Type.INT32, ...optional },
      { name: 'next_page_token', type: Type.STRING, ...optional },
    ])
    const service = proto.file.service.find(({ name }) => name === 'TaskService')
    if (service === undefined) throw new RangeError('TaskService is missing')
    service.method = service.method.filter(({ name }) => !['WatchTasks', 'PlanTask'].includes(name))
    for (const [name, { fields }] of Object.entries(methods)) {
      message(
        `${name}Request`,
        fields.map((field) => FIELDS[field]),
      )
      const options = create(MethodOptionsSchema)
      setExtension(options, rule, create(RuleSchema, { verb: 'own', resource: 'task' }))
      service.method.push(
        create(MethodDescriptorProtoSchema, {
          name,
          inputType: `.plans.v1.${name}Request`,
          outputType: '.plans.v1.OwnResponse',
          options,
        }),
      )
    }
  })

const inWords = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim()

describe('securityCheck of methods of an application', () => {
  const check = async (methods: Readonly<Record<string, Own>>) => {
    const service = serviceOf(methods)
    const OwnTask = entityOf(service.method.getTask.output)
    const dataSource = await new SqliteDataSource({ database: ':memory:', entities: [OwnTask] }).initialize()
    try {
      await createTables(dataSource, [OwnTask], 'sqlite')
      const tasks = new (repositoryOf(OwnTask))(dataSource)
      const rows: Rows = {
        query: (sql, values = []) => dataSource.query(sql, [...values]),
        get: (id) => tasks.get(id),
      }
      const implementation = Object.fromEntries(
        Object.entries(methods).map(([name, { make }]) => [
          name[0]?.toLowerCase() + name.slice(1),
          make(rows),
        ]),
      )
      const builder = new ServerBuilder().register(service, tasks as never, implementation as never)
      const { findings, notChecked } = await securityCheck(builder)
      const named = (all: readonly { readonly method: string }[]) => [
        ...new Set(all.map(({ method }) => String(method.split('/').at(-1)))),
      ]
      return { findings, found: named(findings), listed: named(notChecked) }
    } finally {
      await dataSource.destroy()
    }
  }

  it('finds each hole in them, or lists what it could not try', async () => {
    const { found, listed } = await check(HOLES)
    expect(listed).to.have.members(['ReadsByText', 'ReadsByNumber', 'FailsForAll'])
    expect([...found, ...listed]).to.have.members(Object.keys(HOLES))
  })

  /** Each would bring texts of one tenant to the other, or write what other methods are judged by. */
  const ALONE: Readonly<Record<string, Own>> = {
    TakesTheRow: {
      fields: ['id'],
      make:
        (rows) =>
        async ({ id }) => (
          await rows.query('UPDATE own_tasks SET account_id = ? WHERE id = ?', [tenant(), id]),
          {}
        ),
    },
    WritesAll: { fields: [], make: (rows) => async () => (await archiveAll(rows), {}) },
    WritesAllLater: { fields: [], make: (rows) => async () => later(() => archiveAll(rows)) },
    WritesAllWithoutAnId: {
      fields: ['id'],
      make:
        (rows) =>
        async ({ id }) => (await (id === '' ? archiveAll(rows) : rows.get(id)), {}),
    },
    RemovesDeletedRows: {
      fields: [],
      make: (rows) => async () => (await rows.query(`DELETE FROM own_tasks WHERE ${isDeleted}`), {}),
    },
    AddsARow: {
      fields: ['id'],
      make:
        (rows) =>
        async ({ id }) => (
          await rows.query(
            `INSERT INTO own_tasks (id, account_id, title, etag)
             SELECT ?, account_id, title, etag FROM own_tasks WHERE id = ?`,
            [randomUUID(), id],
          ),
          {}
        ),
    },
  }
  for (const [name, own] of Object.entries(ALONE))
    it(`finds a method that ${inWords(name)}`, async () => {
      expect((await check({ [name]: own })).found).to.include(name)
    })

  it('finds a method that does what another one has prepared, in either order', async () => {
    const prepared: string[] = []
    const prepare: Own = {
      fields: ['id'],
      make:
        () =>
        ({ id }) =>
          Promise.resolve((prepared.push(id), {})),
    }
    const finish: Own = {
      fields: [],
      make: (rows) => async () => {
        for (const id of prepared.splice(0)) await archive(rows, id)
        return {}
      },
    }
    expect((await check({ PreparesTheRow: prepare, WritesTheRow: finish })).found).to.not.deep.equal([])
    expect((await check({ AWritesTheRow: finish, PreparesTheRow: prepare })).found).to.not.deep.equal([])
  })

  it('finds nothing in methods that write rows of their own tenant, also later', async () => {
    const { findings, listed } = await check(SAFE)
    expect([findings, listed]).to.deep.equal([[], []])
  })
})
