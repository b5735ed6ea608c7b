import { createServer } from 'node:http2'
import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import { Code, ConnectError } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { Widget_State, WidgetService } from '../../dist/examples/widgets/gen/widgets_pb.js'
import { widgetsSql } from './widgets-sql.mjs'

/**
 * The four methods with connect-node, over gRPC or Connect: generated code, prepared statements and no
 * interceptors.
 */
const toWidget = (row) => ({
  id: row.id,
  accountId: row.account_id,
  displayName: row.display_name,
  description: row.description,
  size: row.size,
  price: row.price,
  state: Widget_State[row.state],
  tags: row.tags,
  createTime: timestampFromDate(row.create_time),
  updateTime: timestampFromDate(row.update_time),
  etag: row.etag,
})
const found = (row, code) => {
  if (row === undefined) throw new ConnectError('no such row', code)
  return toWidget(row)
}

const sql = widgetsSql()
const tenantOf = ({ requestHeader }) => requestHeader.get('account-id')
const server = createServer(
  connectNodeAdapter({
    routes: (router) =>
      router.service(WidgetService, {
        getWidget: async ({ id }, call) => found(await sql.get(tenantOf(call), id), Code.NotFound),
        async listWidgets({ pageSize }, call) {
          const { rows, token } = await sql.list(tenantOf(call), pageSize)
          return { widgets: rows.map(toWidget), nextPageToken: token }
        },
        createWidget: async ({ widget, widgetId }, call) =>
          toWidget(
            await sql.create(tenantOf(call), widgetId, { ...widget, state: Widget_State[widget.state] }),
          ),
        updateWidget: async ({ widget }, call) =>
          found(
            await sql.update(tenantOf(call), widget.id, widget.etag, widget.displayName),
            Code.FailedPrecondition,
          ),
      }),
  }),
)
server.listen(0, '127.0.0.1', () => process.send({ ports: { grpc: server.address().port } }))
