import type { DataSource } from 'typeorm'
import {
  PermissionDenied,
  type Repository,
  repositoryFor,
  repositoryOf,
  RequestContext,
} from '../../lib/index.js'
import { type DeleteOptions, emit } from '../../lib/persistence/index.js'
import { Customer } from './customer.js'
import { Order_State } from './gen/orders_pb.js'
import type { SendMail } from './mail.js'
import { Order } from './order.js'
import { OrderLine } from './order-line.js'
import { ProductRepository } from './product-repository.js'
import { named, refused } from './refused.js'
import type { Placed } from './warehouse.js'

/** An order above this has to be approved. */
const APPROVAL_LIMIT_CENTS = 100_000n

/** What a customer orders. */
export interface NewOrder {
  readonly customerId: string
  readonly lines: readonly { readonly productId: string; readonly quantity: number }[]
  readonly note: string
}

export class OrderRepository extends repositoryOf(Order) {
  readonly #customers: Repository<Customer>
  readonly #products: ProductRepository
  readonly #lines: Repository<OrderLine>
  readonly #send: SendMail

  constructor(dataSource: DataSource, send: SendMail) {
    super(dataSource)
    this.#customers = repositoryFor(Customer, dataSource)
    this.#products = new ProductRepository(dataSource)
    this.#lines = repositoryFor(OrderLine, dataSource)
    this.#send = send
  }

  /** Takes what is ordered out of stock and writes the order, all of it or nothing. */
  place({ customerId, lines, note }: NewOrder): Promise<Order> {
    return this.transaction(async ({ principal, afterCommit }) => {
      // Counters first, in one order for everybody: no two orders wait for each other.
      const priced: Pick<OrderLine, 'productId' | 'quantity' | 'priceCents'>[] = []
      for (const { productId, quantity, field } of inKeyOrder(lines)) {
        const { priceCents } = await named(field, this.#products.take(productId, quantity))
        priced.push({ productId, quantity, priceCents })
      }

      const totalCents = totalOf(priced)
      const order = await this.create({
        customerId,
        note,
        totalCents,
        placedBy: principal.subject,
        state: totalCents > APPROVAL_LIMIT_CENTS ? Order_State.AWAITING_APPROVAL : Order_State.PLACED,
      })
      for (const line of priced) await this.#lines.create({ ...line, orderId: order.id })
      const placed: Placed = {
        customerId,
        lines: lines.map(({ productId, quantity }) => ({ productId, quantity })),
      }
      await emit({ resource: 'order', verb: 'placed', key: order.id, data: placed })

      const { email } = await this.#customers.get(customerId)
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
  cancel(id: string, reach: Pick<Repository<Order>, 'modify'>): Promise<Order> {
    return this.transaction(async () => {
      const cancelled = await reach.modify(
        id,
        (order) => {
          mustBeOpen(order)
          return { state: Order_State.CANCELLED }
        },
        { outputOnly: true },
      )
      await this.#putBack(id)
      return cancelled
    })
  }

  /** An approved order stays. What an open one has taken goes back into stock, and its lines go with it. */
  override delete(id: string, options?: DeleteOptions): Promise<void> {
    return this.transaction(async () => {
      const { state } = await this.get(id, { ...options, lock: 'update' })
      if (state === Order_State.APPROVED) throw refused('STATE', `order ${id}`, 'is APPROVED, and stays')
      if (state !== Order_State.CANCELLED) await this.#putBack(id)
      await super.delete(id, options)
    })
  }

  async #putBack(id: string): Promise<void> {
    const { lines } = await this.get(id, { with: ['lines'] })
    for (const { productId, quantity } of inKeyOrder(lines)) await this.#products.put(productId, quantity)
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
const inKeyOrder = <L extends { readonly productId: string }>(lines: readonly L[]) =>
  lines
    .map((line, i) => ({ ...line, field: `lines[${i}].product_id` }))
    .sort((a, b) => (a.productId < b.productId ? -1 : a.productId > b.productId ? 1 : 0))
