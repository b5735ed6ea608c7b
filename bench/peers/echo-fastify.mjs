import fastify from 'fastify'

/** One route with a response schema and no further code. */
const schema = { response: { 200: { type: 'object', properties: { payload: { type: 'string' } } } } }

const app = fastify()
app.get('/v1/echo/:payload', { schema }, async (request) => ({ payload: request.params.payload }))
await app.listen({ port: 0, host: '127.0.0.1' })
process.send({ ports: { http: app.server.address().port } })
