import { repositoryOf } from '../../lib/index.js'
import { Widget_State } from './gen/widgets_pb.js'
import { Widget } from './widget.js'

/** Everything a repository does, and what only widgets do. */
export class WidgetRepository extends repositoryOf(Widget) {
  /** Takes a widget out of sale, whatever it was before. */
  retire(id: string): Promise<Widget> {
    return this.update(id, { state: Widget_State.RETIRED }, ['state'])
  }
}
