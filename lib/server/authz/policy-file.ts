import { readTextFile } from '../../files/text-file.js'
import { type PolicyPath, policyProblems, textOfPath } from './policy-problems.js'
import type { RolePolicy } from './role-policy.js'

/** A policy and the positions of its parts in the file. */
export interface PolicyFile {
  /** The file's content, used to detect a change. */
  readonly text: string
  /** Undefined if the file has `problems`. */
  readonly policy: RolePolicy | undefined
  readonly problems: readonly string[]
  /** Returns `<file>:<line>: <path>` for an error about one part. */
  placeOf(path: PolicyPath): string
}

/** Parsing blocks all calls of the process and takes seconds for a megabyte. */
const MAX_BYTES = 128 * 1024

/**
 * Reads a policy from a YAML or JSON file.
 * @throws Unavailable if the file cannot be read, with advice.
 */
export const readPolicyFile = async (path: string): Promise<PolicyFile> => {
  const text = await readTextFile(path, 'the policy', MAX_BYTES)
  const { LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const lineAt = (offset: number): string => `${path}:${lines.linePos(offset).line}`
  const placeOf = (parts: PolicyPath): string => {
    for (let length = parts.length; length > 0; length--) {
      const node = document.getIn(parts.slice(0, length), true) as { range?: readonly number[] } | undefined
      if (node?.range?.[0] !== undefined) return `${lineAt(node.range[0])}: ${textOfPath(parts)}`
    }
    return `${path}: ${textOfPath(parts) || 'the policy'}`
  }
  const refused = (problems: readonly string[]): PolicyFile => ({
    text,
    policy: undefined,
    problems,
    placeOf,
  })
  const syntax = [...document.errors, ...document.warnings]
  if (syntax.length > 0)
    return refused(
      syntax.map(({ code, message, pos }) => `${lineAt(pos[0])}: ${code === 'BAD_ALIAS' ? QUOTE : message}`),
    )
  let value: unknown
  try {
    // With aliases, a small file could expand to a huge policy.
    value = document.toJS({ maxAliasCount: 0 })
  } catch {
    return refused([`${path}: has aliases or is nested too deeply: write every part in full`])
  }
  const problems = policyProblems(value).map((one) => `${placeOf(one.path)} ${one.text}`)
  return problems.length > 0 ? refused(problems) : { text, policy: value as RolePolicy, problems, placeOf }
}

const QUOTE = 'an alias has no name: write "*" in quotes'
