import { AshlarError, ErrConflict, ErrNotFound, InvalidArgument } from '../../../lib/errors.js'
import type { RepositoryOptions } from '../../../lib/persistence/sql/typeorm-repository.js'
import { CredentialMinter } from '../../../lib/secrets/credential-minter.js'
import type { Specimen } from '../../support/entities/specimen.js'
import { EPOCH, type Match, type Operation, type Step, type Write } from './history.js'
import { asTenant, encryptor, type Subject } from './subject.js'

type Seen = { current?: string | undefined; previous?: string | undefined }

class Stop extends Error {}

/**
 * Which of two items that are at fault is told is not said: some databases write them one by one, some all at
 * once.
 */
function refused(error: unknown): string {
  if (error instanceof ErrNotFound || error instanceof ErrConflict) return 'refused'
  throw error
}

/**
 * Plays a history against one repository. Answers of two players can be compared: what is random in them is
 * replaced by how it relates to what was seen before.
 */
export class Player {
  readonly options: RepositoryOptions
  readonly #etags = new Map<string, Seen>()
  readonly #tokens = new Map<string, Seen>()
  readonly #suffix: string
  #specimens: Subject['specimens'] | undefined
  #now = EPOCH
  #minted = 0
  #tenant = ''

  /** @param suffix - makes this history's tenants its own, where the database is not emptied. */
  constructor(suffix: string) {
    this.#suffix = suffix
    this.options = {
      now: () => new Date(this.#now),
      newKey: () => `minted-${++this.#minted}`,
      minter: new CredentialMinter(),
      encryptor,
    }
  }

  on(specimens: Subject['specimens']): this {
    this.#specimens = specimens
    return this
  }

  /** What the operation came to: an answer, or the error a caller would see. */
  play({ tenant, after, operation }: Step): Promise<unknown> {
    this.#now += after * 1000
    this.#tenant = `${tenant}${this.#suffix}`
    return asTenant(this.#tenant, () => this.#outcome(operation))
  }

  /** Everything that is stored for a tenant. */
  everything(tenant: Step['tenant']): Promise<unknown> {
    const operation = {
      op: 'walk',
      filter: '',
      orderBy: '',
      showDeleted: true,
      pageSize: 0,
      meanwhile: [],
    } as const
    return this.play({ tenant, after: 0, operation })
  }

  async #outcome(operation: Operation): Promise<unknown> {
    try {
      return await this.#perform(operation)
    } catch (error) {
      if (error instanceof InvalidArgument) return `InvalidArgument ${error.field}: ${error.message}`
      if (error instanceof AshlarError || error instanceof Stop)
        return `${error.constructor.name}: ${error.message}`
      throw error
    }
  }

  async #perform(operation: Operation): Promise<unknown> {
    const on = this.#specimens as Subject['specimens']
    switch (operation.op) {
      case 'create':
        return this.#shown(await on.create(operation.values))
      case 'update': {
        const { id, values, mask, match } = operation
        return this.#shown(await on.update(id, values, mask as never, this.#ifMatch(id, match)))
      }
      case 'delete':
        return on.delete(operation.id, this.#ifMatch(operation.id, operation.match))
      case 'undelete':
        return this.#shown(await on.undelete(operation.id, this.#ifMatch(operation.id, operation.match)))
      case 'get':
        return this.#shown(await on.get(operation.id))
      case 'walk':
        return this.#walk(operation)
      case 'batchGet':
        return (await on.batchGet(operation.ids)).map((entity) => this.#shown(entity))
      case 'batchUpdate':
        return on
          .batchUpdate(operation.items as never)
          .then((entities) => entities.map((entity) => this.#shown(entity)), refused)
      case 'batchDelete':
        return on.batchDelete(operation.ids)
      case 'purge':
        return on.purgeExpired(new Date(EPOCH + operation.beforeSeconds * 1000))
      case 'remint':
        return void this.#saw(this.#tokens, operation.id, await on.remintApiKey(operation.id))
      case 'verify': {
        const token = this.#tokens.get(this.#place(operation.id))?.[operation.which] ?? 'ib_none'
        const { ok, record } = await on.verifyApiKey(token)
        return { ok, id: record?.id, ofOwner: record?.accountId === this.#tenant }
      }
      case 'lookup':
        return this.#shown(await on.lookupByWebhookSecretHash(await encryptor.hash(operation.secret)))
      case 'reveal':
        return on.revealWebhookSecret(operation.id)
      case 'transaction':
        return this.#transaction(operation.steps, operation.fails)
      case 'rest':
        return undefined
    }
  }

  async #walk(operation: Operation & { op: 'walk' }): Promise<unknown> {
    const { filter, orderBy, showDeleted, pageSize, meanwhile } = operation
    const writes = [...meanwhile]
    const pages: unknown[] = []
    for (let pageToken = ''; ;) {
      const list = { filter, orderBy, showDeleted, pageSize, pageToken }
      const page = await (this.#specimens as Subject['specimens']).list(list)
      pages.push(page.items.map((entity) => this.#shown(entity)))
      pageToken = page.nextPageToken
      if (pageToken === '') return pages
      const write = writes.shift()
      if (write !== undefined) pages.push(await this.#outcome(write))
    }
  }

  async #transaction(steps: readonly Write[], fails: boolean): Promise<unknown> {
    const outcomes: unknown[] = []
    await (this.#specimens as Subject['specimens'])
      .transaction(async () => {
        for (const step of steps) outcomes.push(await this.#outcome(step))
        if (fails) throw new Stop('on purpose')
      })
      .catch((error: unknown) => {
        if (!(error instanceof Stop)) throw error
      })
    return outcomes
  }

  #shown(entity: Specimen): unknown {
    const { etag, apiKey, accountId, ...rest } = entity
    const place = this.#place(entity.id)
    const isKnown = this.#etags.get(place)?.current === etag
    if (!isKnown) this.#saw(this.#etags, entity.id, etag)
    if (apiKey !== undefined) this.#saw(this.#tokens, entity.id, apiKey)
    return {
      ...rest,
      accountId: accountId === this.#tenant,
      etag: isKnown ? 'known' : 'fresh',
      apiKey: apiKey === undefined ? undefined : 'minted',
    }
  }

  #ifMatch(id: string, match: Match): { ifMatch?: string } {
    if (match === 'none') return {}
    const seen = this.#etags.get(this.#place(id))
    return { ifMatch: (match === 'invented' ? undefined : seen?.[match]) ?? 'invented' }
  }

  #saw(among: Map<string, Seen>, id: string, value: string): void {
    const place = this.#place(id)
    among.set(place, { current: value, previous: among.get(place)?.current })
  }

  #place(id: string): string {
    return `${this.#tenant}/${id}`
  }
}
