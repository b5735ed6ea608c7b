import fastify from 'fastify'
import { customerRoutes } from './customers.mjs'
import { openDatabase } from './database.mjs'
import { orderRoutes, type SendMail } from './orders.mjs'
import { sendProblem } from './problems.mjs'
import { productRoutes } from './products.mjs'

const print: SendMail = ({ to, text }) => console.log(`mail to ${to}: ${text}`)

/** A server for customers, products and orders: HTTP/JSON. */
const db = openDatabase(process.env['ORDERS_DATABASE'] ?? '')
const app = fastify({ ajv: { customOptions: { coerceTypes: true, removeAdditional: false } } })
app.setErrorHandler(sendProblem)
customerRoutes(app, db)
productRoutes(app, db)
orderRoutes(app, db, print)
app.get('/readyz', async () => {
  await db.selectFrom('customers').select('id').limit(1).execute()
  return {}
})
await app.listen({ port: Number(process.env['PORT'] ?? 8080), host: '127.0.0.1' })
process.send?.({ url: app.listeningOrigin })
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void app.close().then(() => db.destroy()))
