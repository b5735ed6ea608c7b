import type { DataSource } from 'typeorm'
import { filter, PermissionDenied, type Repository, repositoryOf, RequestContext } from '../../lib/index.js'
import type { Customer } from './customer.js'
import { CustomerRepository } from './customer-repository.js'
import { Order_State } from './gen/orders_pb.js'
import type { SendMail } from './mail.js'
import { Order } from './order.js'
import { OrderLine } from './order-line.js'
import { ProductRepository } from './product-repository.js'
import { named, refused } from './refused.js'

/** An order above this has to be approved. */
const APPROVAL_LIMIT_CENTS = 100_000n

/** What a customer orders. */
export interface NewOrder {
  readonly customer: string
  readonly lines: readonly { readonly product: string; readonly quantity: number }[]
  readonly note: string
}

export class OrderRepository extends repositoryOf(Order) {
  readonly #customers: Repository<Customer>
  readonly #products: ProductRepository
  readonly #lines: Repository<OrderLine>
  readonly #send: SendMail

  constructor(dataSource: DataSource, send: SendMail) {
    super(dataSource)
    this.#customers = new CustomerRepository(dataSource)
    this.#products = new ProductRepository(dataSource)
    this.#lines = new (repositoryOf(OrderLine))(dataSource)
    this.#send = send
  }

  /** Takes what is ordered out of stock and writes the order, all of it or nothing. */
  place({ customer, lines, note }: NewOrder): Promise<Order> {
    return this.transaction(async ({ principal, afterCommit }) => {
      const { email } = await named('customer', this.#customers.get(customer, { lock: 'share' }))

      // Counters first, in one order for everybody: no two orders wait for each other.
      const priced: Pick<OrderLine, 'product' | 'quantity' | 'priceCents'>[] = []
      for (const { product, quantity, field } of inKeyOrder(lines)) {
        const { priceCents } = await named(field, this.#products.take(product, quantity))
        priced.push({ product, quantity, priceCents })
      }

      const totalCents = totalOf(priced)
      const order = await this.create({
        customer,
        note,
        totalCents,
        placedBy: principal.subject,
        state: totalCents > APPROVAL_LIMIT_CENTS ? Order_State.AWAITING_APPROVAL : Order_State.PLACED,
      })
      for (const line of priced) await this.#lines.create({ ...line, orderId: order.id })

      afterCommit(() => this.#send({ to: email, text: `We have your order ${order.id}.` }))
      return order
    })
  }

  /** Another person than the one who placed an order approves it. */
  approve(id: string): Promise<Order> {
    const { subject } = RequestContext.current().principal
    return this.modify(
      id,
      ({ state, placedBy }) => {
        if (state !== Order_State.AWAITING_APPROVAL)
          throw refused('STATE', `order ${id}`, `is ${Order_State[state]}, and awaits no approval`)
        if (placedBy === subject)
          throw new PermissionDenied('an order is approved by another person than the one who placed it')
        return { state: Order_State.APPROVED, approvedBy: subject }
      },
      { outputOnly: true },
    )
  }

  /**
   * Puts what was ordered back into stock.
   * @param reach - the orders that the caller may cancel.
   */
  cancel(id: string, reach: Pick<Repository<Order>, 'modify'> = this): Promise<Order> {
    return this.transaction(async () => {
      const cancelled = await reach.modify(
        id,
        (order) => {
          mustBeOpen(order)
          return { state: Order_State.CANCELLED }
        },
        { outputOnly: true },
      )
      const { items } = await this.#lines.list({ pageSize: 1000 }, { under: filter`order_id = ${id}` })
      for (const { product, quantity } of inKeyOrder(items)) await this.#products.put(product, quantity)
      return cancelled
    })
  }
}

/** @throws AshlarError for an order that cannot be changed any more. */
export function mustBeOpen({ id, state }: Pick<Order, 'id' | 'state'>): void {
  if (state === Order_State.APPROVED || state === Order_State.CANCELLED)
    throw refused('STATE', `order ${id}`, `is ${Order_State[state]}, and cannot be changed any more`)
}

const totalOf = (lines: readonly Pick<OrderLine, 'quantity' | 'priceCents'>[]): bigint =>
  lines.reduce((total, { quantity, priceCents }) => total + BigInt(quantity) * priceCents, 0n)

/** By product, with the field of the request that names it. */
const inKeyOrder = <L extends { readonly product: string }>(lines: readonly L[]) =>
  lines
    .map((line, i) => ({ ...line, field: `lines[${i}].product` }))
    .sort((a, b) => (a.product < b.product ? -1 : a.product > b.product ? 1 : 0))
