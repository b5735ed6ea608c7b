import {
  AfterInsert,
  AfterLoad,
  AfterRecover,
  AfterRemove,
  AfterSoftRemove,
  AfterUpdate,
  BeforeInsert,
  BeforeRecover,
  BeforeRemove,
  BeforeSoftRemove,
  BeforeUpdate,
  Column,
  Entity,
  PrimaryColumn,
  Unique,
} from 'typeorm'
import {
  CreateTime,
  Credential,
  ETag,
  Expirable,
  OutputOnly,
  Resource,
  Secret,
  SoftDeletable,
  Tags,
  TenantScoped,
  UpdateTime,
} from '../../../decorators/index.js'
import type { HookEvent } from '../../../lib/resource/typeorm/declared-hooks.js'

type Reported = readonly [event: HookEvent, id: string]

/** The calls of the hooks below, in order. */
export const reported: Reported[] = []
/** A test can replace the effect of hooks. */
export const doing: Partial<Record<HookEvent, (entity: Task) => unknown>> = {}

const tell = (event: HookEvent, entity: { readonly id: string }): unknown => {
  reported.push([event, entity.id])
  return doing[event]?.(entity as Task)
}

/** A soft-deletable entity with every hook, a secret and a credential. */
@Resource()
@Entity('tasks')
@Unique(['code'])
@TenantScoped()
@SoftDeletable()
@Expirable()
export class Task {
  @PrimaryColumn() id!: string
  @Column() title!: string
  @Column() code!: string
  @Column({ nullable: true }) slug?: string
  @Column({ type: 'int' }) revision!: number
  @OutputOnly() @Column({ nullable: true }) state?: string
  @Tags() tags!: Record<string, string>
  @CreateTime() createTime!: Date
  @UpdateTime() updateTime!: Date
  @ETag() etag!: string
  @Secret() pin?: Secret
  @Credential() token?: Credential
  accountId!: string
  deleteTime?: Date
  expireTime?: Date
  /** Not stored. */
  label?: string

  @BeforeInsert() beforeInsert(): unknown {
    return tell('BeforeInsert', this)
  }
  @AfterInsert() afterInsert(): unknown {
    return tell('AfterInsert', this)
  }
  @BeforeUpdate() beforeUpdate(): unknown {
    return tell('BeforeUpdate', this)
  }
  @AfterUpdate() afterUpdate(): unknown {
    return tell('AfterUpdate', this)
  }
  @BeforeSoftRemove() beforeSoftRemove(): unknown {
    return tell('BeforeSoftRemove', this)
  }
  @AfterSoftRemove() afterSoftRemove(): unknown {
    return tell('AfterSoftRemove', this)
  }
  @BeforeRecover() beforeRecover(): unknown {
    return tell('BeforeRecover', this)
  }
  @AfterRecover() afterRecover(): unknown {
    return tell('AfterRecover', this)
  }
  @AfterLoad() afterLoad(): unknown {
    return tell('AfterLoad', this)
  }
}

class Removed {
  @PrimaryColumn() id!: string

  @BeforeRemove() beforeRemove(): unknown {
    return tell('BeforeRemove', this)
  }
  @AfterRemove() async afterRemove(): Promise<unknown> {
    return Promise.resolve(tell('AfterRemove', this))
  }
}

/** A permanently deleted entity whose hooks are in a base class. */
@Resource()
@Entity('entries')
@TenantScoped()
export class Entry extends Removed {
  @Column() text!: string
  accountId!: string
}
