import { Failure } from '../errors/failure.js'
import { moduleFailure } from '../errors/problems-text.js'
import { foreignModule } from './foreign-module.js'
import { defaultedPathFlag, pathFlag } from './path-flag.js'
import { projectOption } from './project-option.js'

const SUMMARY = 'The compiled module that exports the entities.'

/** Of a command that does something else without it. */
export const givenEntitiesFlag = pathFlag({ summary: SUMMARY })

const ofProject = {
  summary: SUMMARY,
  description: 'Default: entities in the key ashlar of package.json.',
  default: () => Promise.resolve(projectOption('entities')),
}
export const entitiesFlag = defaultedPathFlag(ofProject)
export const requiredEntitiesFlag = pathFlag({ ...ofProject, required: true })

/**
 * Returns the result of `read` for the entities that a module exports. @throws Failure if there is none, or
 * if an entity's declaration is invalid.
 */
export async function fromEntities<T>(
  module: string,
  read: (exports: Readonly<Record<string, unknown>>) => T,
): Promise<T> {
  const exports = await foreignModule(module)
  try {
    return read(exports)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw moduleFailure(module, error)
  }
}

/** For a module that exports other things only. */
export const noEntities = (module: string): Failure =>
  new Failure('input', `${module} exports no class with @Resource(): name the module of the entities`)

/** The failure for a module of existing tables. */
export const noneToMake = (module: string): Failure =>
  new Failure(
    'input',
    `${module}: every resource has existing: true, so no file creates its table: write a file yourself`,
  )
