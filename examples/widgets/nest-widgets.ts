import { Injectable } from '@nestjs/common'
import { InjectRepository } from '../../lib/nest/index.js'
import type { Implementation } from '../../lib/index.js'
import type { RetireWidgetRequest, Widget as WidgetMessage, WidgetService } from './gen/widgets_pb.js'
import { Widget } from './widget.js'
import { WidgetRepository } from './widget-repository.js'

/** The methods of `WidgetService` that no repository answers by itself. */
@Injectable()
export class WidgetMethods implements Partial<Implementation<typeof WidgetService>> {
  constructor(@InjectRepository(Widget) private readonly widgets: WidgetRepository) {}

  async retireWidget({ id }: RetireWidgetRequest): Promise<WidgetMessage> {
    return this.widgets.model.toMessage(await this.widgets.retire(id))
  }
}
