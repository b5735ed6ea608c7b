import { fileURLToPath } from 'node:url'
import grpc from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import { widgetsSql } from './widgets-sql.mjs'

/**
 * The four methods without a framework: @grpc/grpc-js, a codec compiled by protobufjs, prepared statements
 * and no interceptors.
 */
const root = await protobuf.load(fileURLToPath(new URL('./widgets.proto', import.meta.url)))
const type = (name) => root.lookupType(`widgets.v1.${name}`)
const State = root.lookupEnum('widgets.v1.Widget.State').values
const names = Object.fromEntries(Object.entries(State).map(([name, number]) => [number, name]))

const method = (name, input, output) => ({
  path: `/widgets.v1.WidgetService/${name}`,
  requestStream: false,
  responseStream: false,
  requestSerialize: (message) => type(input).encode(message).finish(),
  requestDeserialize: (
    (Type) => (bytes) =>
      Type.decode(bytes)
  )(type(input)),
  responseSerialize: (
    (Type) => (message) =>
      Type.encode(message).finish()
  )(type(output)),
  responseDeserialize: (bytes) => type(output).decode(bytes),
})

const timestamp = (date) => {
  const ms = date.getTime()
  const seconds = Math.floor(ms / 1000)
  return { seconds, nanos: (ms - seconds * 1000) * 1e6 }
}

const toWidget = (row) => ({
  id: row.id,
  accountId: row.account_id,
  displayName: row.display_name,
  description: row.description,
  size: row.size,
  price: row.price,
  state: State[row.state],
  tags: row.tags,
  createTime: timestamp(row.create_time),
  updateTime: timestamp(row.update_time),
  etag: row.etag,
})

const sql = widgetsSql()
const tenantOf = (call) => call.metadata.get('account-id')[0]
const answer = (work) => (call, done) =>
  work(tenantOf(call), call.request).then(
    (reply) => done(null, reply),
    (error) =>
      done({ code: error.code in grpc.status ? error.code : grpc.status.INTERNAL, details: 'failed' }),
  )
const found = (row, code) => {
  if (row === undefined) throw Object.assign(new Error('no such row'), { code })
  return toWidget(row)
}

const server = new grpc.Server()
server.addService(
  {
    getWidget: method('GetWidget', 'GetWidgetRequest', 'Widget'),
    listWidgets: method('ListWidgets', 'ListWidgetsRequest', 'ListWidgetsResponse'),
    createWidget: method('CreateWidget', 'CreateWidgetRequest', 'Widget'),
    updateWidget: method('UpdateWidget', 'UpdateWidgetRequest', 'Widget'),
  },
  {
    getWidget: answer(async (tenant, { id }) => found(await sql.get(tenant, id), grpc.status.NOT_FOUND)),
    listWidgets: answer(async (tenant, { pageSize }) => {
      const { rows, token } = await sql.list(tenant, pageSize)
      return { widgets: rows.map(toWidget), nextPageToken: token }
    }),
    createWidget: answer(async (tenant, { widget, widgetId }) =>
      toWidget(
        await sql.create(tenant, widgetId, { ...widget, state: names[widget.state], tags: widget.tags }),
      ),
    ),
    updateWidget: answer(async (tenant, { widget }) =>
      found(
        await sql.update(tenant, widget.id, widget.etag, widget.displayName),
        grpc.status.FAILED_PRECONDITION,
      ),
    ),
  },
)
server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
  if (error) throw error
  process.send({ ports: { grpc: port } })
})
