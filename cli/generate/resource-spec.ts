import { Failure } from '../errors/failure.js'

/** A resource on the command line: `Task`, `Project/Task`, or `'Project/Task(title:string! size:int32)'`. */
export interface ResourceSpec {
  readonly name: string
  readonly parent?: string
  /** The fields in parentheses; undefined without parentheses. */
  readonly fields?: string
}

/**
 * Parses the description of a resource from the command line.
 * @throws {Failure} if the format is wrong.
 */
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
