import { backends, describeOn } from '../support/databases/backends.js'
import { openPlans, type Plans } from './related/plans.js'
import { filters } from './related/filters.js'
import { loaded } from './related/loaded.js'
import { orders } from './related/orders.js'

describeOn('reading together', backends, (backend) => {
  const holder = { plans: undefined as never as Plans }
  before(async () => {
    holder.plans = await openPlans(backend)
  })
  beforeEach(() => holder.plans.clear())
  after(() => holder.plans?.close())

  loaded(holder)
  filters(holder)
  orders(holder)
})
