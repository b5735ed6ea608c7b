import { Failure } from '../errors/failure.js'
import { moduleFailure } from '../errors/problems-text.js'
import { foreignModule } from './foreign-module.js'
import { defaultedPathFlag, pathFlag } from './path-flag.js'
import { projectOption } from './project-option.js'

const SUMMARY = 'The compiled module that exports the entities.'

/** The flag of a command that can also run without entities. */
export const givenEntitiesFlag = pathFlag({ summary: SUMMARY })

const ofProject = {
  summary: SUMMARY,
  description: 'Default: entities in the ashlar key of package.json.',
  default: () => Promise.resolve(projectOption('entities')),
}
export const entitiesFlag = defaultedPathFlag(ofProject)
export const requiredEntitiesFlag = pathFlag({ ...ofProject, required: true })

/**
 * Returns the result of `read` for the entities that a module exports.
 * @throws Failure if there are none, or if a declaration is invalid.
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

/** Returns the failure for a module that exports no entities. */
export const noEntities = (module: string): Failure =>
  new Failure('input', `${module} exports no class with @Resource(): name the module of the entities`)

/** Returns the failure for a module that contains only existing tables. */
export const noneToMake = (module: string): Failure =>
  new Failure(
    'input',
    `${module}: every resource has existing: true, so no file creates its table: write a file yourself`,
  )
