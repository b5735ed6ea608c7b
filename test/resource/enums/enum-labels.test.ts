import 'reflect-metadata'
import { create } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { expect } from 'chai'
import { Column, type ColumnOptions, Entity, PrimaryColumn } from 'typeorm'
import { EnumLabels, Resource } from '../../../decorators/index.js'
import { DeclarationError, InvalidArgument } from '../../../lib/errors.js'
import { memoryRepositoryOf } from '../../../lib/persistence/repository-of.js'
import { type EntityClass, resourceModel } from '../../../lib/resource/resource-model.js'
import { inAcme } from '../../conformance/repository/subject.js'
import { StepService } from '../../support/gen/plans_pb.js'
import { altered } from '../../support/grpc/altered.js'
import { rejection } from '../../support/rejection.js'

interface Step {
  id: string
  phase?: string
}

/** A message with an enum of these names. */
const messageOf = (names: readonly string[]) =>
  altered(StepService, (proto) => {
    for (const name of ['account_id', 'task_id', 'title', 'done']) proto.removeField('Step', name)
    const [phase] = proto.file.enumType
    phase!.value = names.map((name, number) => ({ ...phase!.value[0]!, name, number }))
    proto.addField('Step', 'phase', Type.ENUM, { typeName: '.plans.v1.Phase' })
  }).method.getStep.output

function declared(
  options: ColumnOptions,
  { names = ['PHASE_UNSPECIFIED', 'PHASE_IN_WORK', 'PHASE_DONE'], stated }: Said = {},
): EntityClass<Step> {
  class Declared {
    @PrimaryColumn({ length: 40 }) id!: string
    phase?: string
  }
  Reflect.defineMetadata('design:type', String, Declared.prototype, 'phase')
  Column(options)(Declared.prototype, 'phase')
  if (stated !== undefined) EnumLabels(stated)(Declared.prototype, 'phase')
  Entity('steps')(Declared)
  Resource({ message: messageOf(names), shared: true })(Declared)
  return Declared
}

interface Said {
  readonly names?: readonly string[]
  readonly stated?: Readonly<Record<string, string>>
}

/** The label of each number. */
const labelsOf = (options: ColumnOptions, said?: Said) => {
  const { fields } = resourceModel(declared(options, said))
  return Object.fromEntries(
    fields.find(({ property }) => property === 'phase')?.enumNames?.labels?.labelOf ?? [],
  )
}

const problemOf = (options: ColumnOptions, said?: Said): string => {
  try {
    resourceModel(declared(options, said))
  } catch (error) {
    expect(error).to.be.instanceOf(DeclarationError)
    return (error as Error).message
  }
  throw new Error('the declaration has no problem')
}

describe('labels of an enum', () => {
  for (const labels of [
    ['in-work', 'done'],
    ['In Work', 'DONE'],
    ['inWork', 'Done'],
    ['PHASE_IN_WORK', 'phase_done'],
  ])
    it(`have the values that are spelled like ${labels.join(' and ')}`, () => {
      expect(labelsOf({ type: 'enum', enum: labels })).to.deep.equal({ 1: labels[0], 2: labels[1] })
    })

  it('have the values of the members of a TypeScript enum', () => {
    expect(labelsOf({ type: 'enum', enum: { InWork: 'w', Done: 'd' } })).to.deep.equal({ 1: 'w', 2: 'd' })
  })

  it('are stated where they are spelled otherwise', () => {
    const stated = { PHASE_IN_WORK: 'busy' }
    expect(labelsOf({ type: 'enum', enum: ['busy', 'done'] }, { stated })).to.deep.equal({
      1: 'busy',
      2: 'done',
    })
    expect(labelsOf({ type: 'text' }, { stated: { InWork: 'w', Done: 'd' } })).to.deep.equal({
      1: 'w',
      2: 'd',
    })
  })

  it('include one of 0 unless that is unspecified', () => {
    const names = ['IN_WORK', 'DONE']
    expect(labelsOf({ type: 'enum', enum: ['in_work', 'done'] }, { names })).to.deep.equal({
      0: 'in_work',
      1: 'done',
    })
  })

  it('fail at startup if a value is missing, or two labels have the same', () => {
    const missing = problemOf({ type: 'enum', enum: ['in-work', 'over'] })
    expect(missing).to.include('phase: "over" has no value in Phase').and.include('@EnumLabels({ PHASE_DONE')
    const twice = problemOf({ type: 'enum', enum: ['in-work', 'InWork', 'done'] })
    expect(twice).to.include('phase: "in-work" and "InWork" are both PHASE_IN_WORK')
    const unknown = problemOf({ type: 'text' }, { stated: { PHASE_OVER: 'over' } })
    expect(unknown).to.include('@EnumLabels() names PHASE_OVER, which Phase does not have')
    const other = problemOf({ type: 'enum', enum: ['done'] }, { stated: { PHASE_DONE: 'Done' } })
    expect(other).to.include('@EnumLabels() has the label "Done", which the column does not have')
    expect(problemOf({ type: 'enum', enum: { InWork: 4, Done: 2 } })).to.include('InWork is 4')
    expect(problemOf({ type: 'varchar', length: 3, enum: ['in-work', 'done'] })).to.include(
      'in-work is longer',
    )
  })

  it('have none for 0, which is NULL, the default of the column, or rejected', () =>
    inAcme(async () => {
      const options = { type: 'enum', enum: ['in-work', 'done'] } as const
      const made = (more: ColumnOptions) => {
        const entity = declared({ ...options, ...more })
        const { fromMessage, toMessage, message } = resourceModel(entity)
        const steps = new (memoryRepositoryOf(entity))({})
        const sent = (phase: number) => fromMessage(create(message!, { id: 'a', phase } as never))
        return { steps, sent, toMessage }
      }
      const nullable = made({ nullable: true })
      const step = await nullable.steps.create(nullable.sent(0))
      expect(step.phase).to.equal(undefined)
      expect(nullable.toMessage<{ phase: number }>(step).phase).to.equal(0)
      const filled = made({ default: 'done' })
      expect((await filled.steps.create(filled.sent(0))).phase).to.equal('done')
      await filled.steps.update('a', filled.sent(1))
      expect((await filled.steps.update('a', filled.sent(0))).phase).to.equal('done')
      const bare = made({})
      await rejection(bare.steps.create(bare.sent(0)), InvalidArgument)
      await rejection(bare.steps.create(bare.sent(7)), InvalidArgument)
    }))
})
