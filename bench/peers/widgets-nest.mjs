import 'reflect-metadata'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import { Controller, Inject, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { GrpcMethod, RpcException, Transport } from '@nestjs/microservices'
import { getRepositoryToken, TypeOrmModule } from '@nestjs/typeorm'
import { EntitySchema, IsNull, MoreThanOrEqual } from 'typeorm'

/**
 * A NestJS gRPC microservice on TypeORM's repository, without guards, pipes or interceptors. Decorators are
 * written as calls.
 */
const text = { type: 'varchar' }
const Widget = new EntitySchema({
  name: 'Widget',
  tableName: 'widgets',
  columns: {
    id: { ...text, primary: true },
    accountId: { ...text, name: 'account_id', primary: true },
    displayName: { ...text, name: 'display_name' },
    description: { type: 'text' },
    size: { type: 'int' },
    price: { type: 'double precision' },
    state: text,
    tags: { type: 'jsonb' },
    createTime: { type: 'timestamptz', name: 'create_time' },
    updateTime: { type: 'timestamptz', name: 'update_time' },
    deleteTime: { type: 'timestamptz', name: 'deleted_at', nullable: true },
    etag: text,
  },
})

const timestamp = (date) => {
  const ms = date.getTime()
  const seconds = Math.floor(ms / 1000)
  return { seconds, nanos: (ms - seconds * 1000) * 1e6 }
}
const toWidget = (row) => ({
  ...row,
  createTime: timestamp(row.createTime),
  updateTime: timestamp(row.updateTime),
  deleteTime: undefined,
})
const tenantOf = (metadata) => metadata.get('account-id')[0]
const refuse = (code) => {
  throw new RpcException({ code, message: 'refused' })
}

class WidgetController {
  constructor(widgets) {
    this.widgets = widgets
  }

  async getWidget({ id }, metadata) {
    const row = await this.widgets.findOne({
      where: { accountId: tenantOf(metadata), id, deleteTime: IsNull() },
    })
    return toWidget(row ?? refuse(grpc.status.NOT_FOUND))
  }

  async listWidgets({ pageSize }, metadata) {
    const rows = await this.widgets.find({
      where: {
        accountId: tenantOf(metadata),
        deleteTime: IsNull(),
        state: 'ACTIVE',
        size: MoreThanOrEqual(100),
      },
      order: { createTime: 'ASC', id: 'ASC' },
      take: pageSize + 1,
    })
    const page = rows.slice(0, pageSize)
    const last = page.at(-1)
    const more = rows.length > pageSize
    const nextPageToken = more
      ? Buffer.from(`${last.createTime.getTime()},${last.id}`).toString('base64url')
      : ''
    return { widgets: page.map(toWidget), nextPageToken }
  }

  async createWidget({ widget, widgetId }, metadata) {
    const now = new Date()
    const row = this.widgets.create({
      ...widget,
      id: widgetId === '' ? randomUUID() : widgetId,
      accountId: tenantOf(metadata),
      createTime: now,
      updateTime: now,
      deleteTime: null,
      etag: randomUUID(),
    })
    return toWidget(await this.widgets.save(row))
  }

  async updateWidget({ widget, updateMask }, metadata) {
    const row = await this.widgets.findOne({
      where: { accountId: tenantOf(metadata), id: widget.id, deleteTime: IsNull() },
    })
    if (row?.etag !== widget.etag) refuse(grpc.status.FAILED_PRECONDITION)
    if (updateMask.includes('display_name')) row.displayName = widget.displayName
    return toWidget(
      await this.widgets.save(Object.assign(row, { updateTime: new Date(), etag: randomUUID() })),
    )
  }
}

const { prototype } = WidgetController
for (const name of ['GetWidget', 'ListWidgets', 'CreateWidget', 'UpdateWidget']) {
  const own = name[0].toLowerCase() + name.slice(1)
  const descriptor = Object.getOwnPropertyDescriptor(prototype, own)
  GrpcMethod('WidgetService', name)(prototype, own, descriptor)
}
Inject(getRepositoryToken(Widget))(WidgetController, undefined, 0)
Controller()(WidgetController)

class WidgetModule {}
Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.BENCH_DATABASE_URL,
      entities: [Widget],
      poolSize: 10,
    }),
    TypeOrmModule.forFeature([Widget]),
  ],
  controllers: [WidgetController],
})(WidgetModule)

/** Finds a free port, because Nest does not report which port it bound. */
const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })

const port = await freePort()
const app = await NestFactory.createMicroservice(WidgetModule, {
  transport: Transport.GRPC,
  logger: ['error'],
  options: {
    package: 'widgets.v1',
    protoPath: fileURLToPath(new URL('./widgets.proto', import.meta.url)),
    url: `127.0.0.1:${port}`,
    loader: { enums: String, longs: Number, defaults: true },
  },
})
await app.listen()
process.send({ ports: { grpc: port } })
