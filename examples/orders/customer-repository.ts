import type { DataSource } from 'typeorm'
import { filter, type Repository, repositoryOf } from '../../lib/index.js'
import { Customer } from './customer.js'
import { Order } from './order.js'
import { refused } from './refused.js'

type Delete = Repository<Customer>['delete']

export class CustomerRepository extends repositoryOf(Customer) {
  readonly #orders: Repository<Order>

  constructor(dataSource: DataSource) {
    super(dataSource)
    this.#orders = new (repositoryOf(Order))(dataSource)
  }

  /** A customer with orders stays. Who places one locks its customer, so that none is missed. */
  override async delete(id: string, options?: Parameters<Delete>[1]): Promise<void> {
    await this.transaction(async () => {
      await this.get(id, { lock: 'update' })
      if (await this.#orders.exists({ filter: filter`customer = ${id}` }))
        throw refused('HAS_ORDERS', `customer ${id}`, 'has orders')
      await super.delete(id, options)
    })
  }
}
