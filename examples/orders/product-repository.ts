import { increment, repositoryOf } from '../../lib/index.js'
import { Product } from './product.js'
import { refused } from './refused.js'

export class ProductRepository extends repositoryOf(Product) {
  /** Takes from the stock. Nobody else changes the row until the transaction ends. */
  take(id: string, quantity: number): Promise<Product> {
    return this.modify(id, ({ stock }) => {
      if (stock < quantity) throw refused('OUT_OF_STOCK', `product ${id}`, `only ${stock} left`)
      return { stock: stock - quantity }
    })
  }

  /** Adds to the stock, whatever it is. */
  put(id: string, quantity: number): Promise<Product> {
    return this.update(id, { stock: increment(quantity) }, ['stock'])
  }
}
