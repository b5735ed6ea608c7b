import fastify from 'fastify'
import { widgetsSql } from './widgets-sql.mjs'

/**
 * The two reads without a framework's help: fastify with response schemas and prepared statements, without
 * authorization or other interceptors.
 */
const string = { type: 'string' }
const widget = {
  type: 'object',
  properties: {
    id: string,
    accountId: string,
    displayName: string,
    description: string,
    size: { type: 'integer' },
    price: { type: 'number' },
    state: string,
    tags: { type: 'object', additionalProperties: string },
    createTime: string,
    updateTime: string,
    etag: string,
  },
}
const page = {
  type: 'object',
  properties: { widgets: { type: 'array', items: widget }, nextPageToken: string },
}

/** Formats a time. proto3 JSON omits a zero fraction. */
const time = (date) => date.toISOString().replace('.000Z', 'Z')
const toWidget = (row) => ({
  id: row.id,
  accountId: row.account_id,
  displayName: row.display_name,
  description: row.description,
  size: row.size,
  price: row.price,
  state: row.state,
  tags: row.tags,
  createTime: time(row.create_time),
  updateTime: time(row.update_time),
  etag: row.etag,
})

const sql = widgetsSql()
const app = fastify()
app.get('/v1/widgets/:id', { schema: { response: { 200: widget } } }, async (request, reply) => {
  const row = await sql.get(request.headers['account-id'], request.params.id)
  return row === undefined ? reply.code(404).send() : toWidget(row)
})
app.get('/v1/widgets', { schema: { response: { 200: page } } }, async (request) => {
  const { rows, token } = await sql.list(request.headers['account-id'], Number(request.query.page_size))
  return { widgets: rows.map(toWidget), nextPageToken: token }
})
await app.listen({ port: 0, host: '127.0.0.1' })
process.send({ ports: { http: app.server.address().port } })
