import { repositoryOf } from '../../lib/index.js'
import { Product } from './product.js'
import { refused } from './refused.js'

export class ProductRepository extends repositoryOf(Product) {
  /** Adds to the stock, or takes from it where `by` is negative. Nobody else changes the row until the transaction ends. */
  changeStock(id: string, by: number): Promise<Product> {
    return this.modify(id, ({ stock }) => {
      if (stock + by < 0) throw refused('OUT_OF_STOCK', `product ${id}`, `only ${stock} left`)
      return { stock: stock + by }
    })
  }
}
