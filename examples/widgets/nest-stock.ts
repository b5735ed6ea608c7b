import { Controller, Get, Inject, Param } from '@nestjs/common'
import { AshlarHealthIndicator } from '../../lib/nest/index.js'
import { WidgetRepository } from './widget-repository.js'

/** Routes of Nest's own beside those of the services: their principal is what the middleware says. */
@Controller('stock')
export class StockController {
  constructor(
    @Inject(WidgetRepository) private readonly widgets: WidgetRepository,
    @Inject(AshlarHealthIndicator) private readonly ashlar: AshlarHealthIndicator,
  ) {}

  @Get()
  async all() {
    const { items } = await this.widgets.list({ orderBy: 'id' })
    return items.map(({ id, size }) => ({ id, size }))
  }

  @Get('health')
  health() {
    return this.ashlar.isHealthy()
  }

  @Get(':id')
  async one(@Param('id') id: string) {
    return { size: (await this.widgets.get(id)).size }
  }
}
