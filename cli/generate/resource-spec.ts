import { Failure } from '../errors/failure.js'

/**
 * A resource as it is named on the command line: `Task`, `Project/Task`,
 * `'Project/Task(title:string! size:int32)'`.
 */
export interface ResourceSpec {
  readonly name: string
  readonly parent?: string
  /** Undefined where it has no parentheses. */
  readonly fields?: string
}

/** @throws {Failure} for a text of another form. */
export function parseResource(text: string): ResourceSpec {
  const [, parent, name, fields] =
    /^(?:([A-Za-z][A-Za-z0-9]*)\/)?([A-Za-z][A-Za-z0-9]*)\s*(?:\((.*)\))?$/s.exec(text.trim()) ?? []
  if (name === undefined)
    throw new Failure(
      'input',
      `${text}: write a resource as Task, or with its parent and fields as 'Project/Task(title:string! size:int32)'`,
    )
  return { name, ...(parent !== undefined && { parent }), ...(fields !== undefined && { fields }) }
}
