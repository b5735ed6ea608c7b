import { timestampDate } from '@bufbuild/protobuf/wkt'
import { type Client, ClientError, type CallOptions, Metadata, Status } from 'nice-grpc'
import type { Definition } from '../../lib/server/index.js'
import { type Widget, Widget_State, type WidgetService } from './gen/widgets_pb.js'
import type { Screen } from '../tour/screen.js'

type Widgets = Client<Definition<typeof WidgetService>>
type As = (tenant: string) => CallOptions

/** The tour over gRPC. Throws when an answer is not what the text beside it says. */
export async function grpcTour(widgets: Widgets, as: As, screen: Screen): Promise<void> {
  const ask = <T>(text: string, call: Promise<T>, view: (answer: T) => unknown = brief): Promise<T> => {
    screen.asked(text)
    return call.then((answer) => {
      screen.answered(view(answer))
      return answer
    })
  }
  const refused = async (text: string, status: Status, call: Promise<unknown>) => {
    screen.asked(text)
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    if (!(error instanceof ClientError) || error.code !== status)
      throw new Error(`expected ${Status[status]}: ${text}`, { cause: error })
    screen.answered(`${Status[status]}: ${error.details}`)
  }
  const acme = as('acme')

  screen.title('gRPC')
  screen.step('Create three widgets')
  let anvil = await ask(
    'CreateWidget { widget_id: "anvil", display_name: "Anvil", size: 7, price: 99.5, tags: { env: "prod" } }   account-id: acme',
    widgets.createWidget(
      {
        widgetId: 'anvil',
        widget: {
          displayName: 'Anvil',
          size: 7,
          price: 99.5,
          state: Widget_State.ACTIVE,
          tags: { env: 'prod' },
        },
      },
      acme,
    ),
  )
  await ask(
    'CreateWidget { widget_id: "bolt", size: 1 }',
    widgets.createWidget(
      { widgetId: 'bolt', widget: { displayName: 'Bolt', size: 1, state: Widget_State.ACTIVE } },
      acme,
    ),
  )
  await ask(
    'CreateWidget { display_name: "Crank", size: 3 }',
    widgets.createWidget({ widget: { displayName: 'Crank', size: 3, state: Widget_State.DRAFT } }, acme),
  )
  screen.shows(
    'The server assigned account_id, the times and an etag, and minted a UUIDv7 where no id was given.',
  )

  screen.step('Get one')
  await ask('GetWidget { id: "anvil" }', widgets.getWidget({ id: 'anvil' }, acme))
  await ask(
    'GetWidget { id: "anvil", read_mask: "display_name,price" }',
    widgets.getWidget({ id: 'anvil', readMask: { paths: ['display_name', 'price'] } }, acme),
  )
  screen.shows('read_mask returns only the named fields (AIP-157).')

  screen.step('List with filter, order and pages')
  const request = {
    filter: 'size >= 1 AND (state = ACTIVE OR tags.env = "prod")',
    orderBy: 'size desc',
    pageSize: 1,
  }
  const page = await ask(
    `ListWidgets ${JSON.stringify(request)}`,
    widgets.listWidgets(request, acme),
    pageView,
  )
  await ask(
    'ListWidgets { …the same, page_token: next_page_token }',
    widgets.listWidgets({ ...request, pageToken: page.nextPageToken }, acme),
    pageView,
  )
  screen.shows(
    'AIP-160 filter, AIP-132 order; the page token is a cursor: rows written meanwhile are neither repeated nor skipped.',
  )

  screen.step('Update one field, if nobody else did meanwhile')
  const stale = anvil.etag
  anvil = await ask(
    'UpdateWidget { widget: { id: "anvil", price: 89 }, update_mask: ["price"] }   if-match: <its etag>',
    widgets.updateWidget(
      { widget: { id: 'anvil', price: 89 }, updateMask: ['price'] },
      withIfMatch(acme, anvil.etag),
    ),
  )
  if (anvil.displayName !== 'Anvil' || anvil.price !== 89) throw new Error('the mask was not honoured')
  screen.shows('Only price changed, and the etag with it.')
  await refused(
    'UpdateWidget …again, with the etag from before',
    Status.FAILED_PRECONDITION,
    widgets.updateWidget(
      { widget: { id: 'anvil', price: 1 }, updateMask: ['price'] },
      withIfMatch(acme, stale),
    ),
  )
  screen.shows('A stale If-Match is refused (AIP-154), in the UPDATE statement itself.')

  screen.step('Delete, look, bring back')
  await ask('DeleteWidget { id: "bolt" }', widgets.deleteWidget({ id: 'bolt' }, acme))
  await refused('GetWidget { id: "bolt" }', Status.NOT_FOUND, widgets.getWidget({ id: 'bolt' }, acme))
  await ask(
    'ListWidgets { show_deleted: true, filter: "size = 1" }',
    widgets.listWidgets({ showDeleted: true, filter: 'size = 1' }, acme),
    pageView,
  )
  await ask('UndeleteWidget { id: "bolt" }', widgets.undeleteWidget({ id: 'bolt' }, acme))
  screen.shows(
    '@SoftDeletable keeps the row; show_deleted lists it (AIP-148), Undelete restores it (AIP-164).',
  )

  screen.step('A batch is atomic')
  await refused(
    'BatchUpdateWidgets { anvil: size 100, nobody: size 100 }',
    Status.NOT_FOUND,
    widgets.batchUpdateWidgets(
      { requests: ['anvil', 'nobody'].map((id) => ({ widget: { id, size: 100 }, updateMask: ['size'] })) },
      acme,
    ),
  )
  const after = await ask('GetWidget { id: "anvil" }', widgets.getWidget({ id: 'anvil' }, acme))
  if (after.size !== 7) throw new Error('the batch was not atomic')
  screen.shows('One key is missing, so nothing changed: size is still 7.')

  screen.step('A method of our own')
  await ask('RetireWidget { id: "anvil" }', widgets.retireWidget({ id: 'anvil' }, acme))
  screen.shows('An AIP-136 method beside the standard ones, five lines in main.ts.')

  screen.step('Another tenant, and nobody')
  await refused(
    'GetWidget { id: "anvil" }   account-id: globex',
    Status.NOT_FOUND,
    widgets.getWidget({ id: 'anvil' }, as('globex')),
  )
  await refused(
    'GetWidget { id: "anvil" }   without any identity',
    Status.PERMISSION_DENIED,
    widgets.getWidget({ id: 'anvil' }),
  )
  screen.shows('Another tenant cannot even tell that it exists; without an identity every call is denied.')
}

const withIfMatch = (options: CallOptions, etag: string): CallOptions => ({
  ...options,
  metadata: Metadata(options.metadata).set('if-match', etag),
})

function brief(answer: unknown): unknown {
  const widget = answer as Partial<Widget>
  if (widget.$typeName !== 'widgets.v1.Widget') return answer
  const { id, displayName, size, price, state, tags, accountId, etag, createTime, deleteTime } =
    widget as Widget
  const set = {
    id,
    displayName,
    size,
    price,
    state: Widget_State[state],
    tags,
    accountId,
    etag,
    createTime: createTime && timestampDate(createTime),
    deleteTime: deleteTime && timestampDate(deleteTime),
  }
  return Object.fromEntries(
    Object.entries(set).filter(
      ([, value]) => value !== undefined && value !== '' && value !== 'STATE_UNSPECIFIED',
    ),
  )
}

const pageView = ({ widgets, nextPageToken }: { widgets: Widget[]; nextPageToken: string }): unknown => ({
  widgets: widgets.map(({ displayName, size, deleteTime }) => ({
    displayName,
    size,
    ...(deleteTime && { deleteTime: timestampDate(deleteTime) }),
  })),
  nextPageToken: nextPageToken === '' ? '' : `${nextPageToken.slice(0, 12)}…`,
})
